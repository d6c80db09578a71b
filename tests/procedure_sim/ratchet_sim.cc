// ratchet-sim: the procedure framework under simulation. Exit code 0: no violation; 1: a violation, with a line that
// repeats the run; 2: invalid arguments; 3: the runs covered too little.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "tests/procedure_sim/simulation.h"

namespace ratchet::sim {
namespace {

constexpr int kBroken = 1;
constexpr int kUsage = 2;
constexpr int kTooLittle = 3;

constexpr const char* kHelp = R"(ratchet-sim [--seed N] [--steps K] [--runs R | --seconds S] [--store memory|wal]
            [--crash-one-in M] [--max-live T] [--trace on]
  --seed N          first seed; each run takes the next one (default: a fresh one, printed)
  --steps K         moves of one run before everything is brought to its end (default 3000)
  --runs R          runs (default 1)
  --seconds S       as many runs as begin within S seconds
  --store           memory: records in memory, very many crashes (default); wal: the real store on a disk double
  --crash-one-in M  one move in M is a power failure (default: by the seed)
  --max-live T      procedure trees at once (default: by the seed)
  --trace on        the framework's log lines on standard error
The environment variable RATCHET_MUTANT=name leaves out one rule: then a violation is what should be printed.
)";

struct Arguments {
  SimOptions options;
  std::uint64_t runs = 1;
  std::uint64_t seconds = 0;
};

std::optional<std::uint64_t> Number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 19)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::optional<Arguments> Parse(int argc, char** argv) {
  Arguments arguments;
  arguments.options.seed = RandomSeed() % 1'000'000'000;
  std::uint64_t max_live = 0;
  const std::map<std::string, std::uint64_t*> numbers = {{"--seed", &arguments.options.seed},
                                                         {"--steps", &arguments.options.steps},
                                                         {"--runs", &arguments.runs},
                                                         {"--seconds", &arguments.seconds},
                                                         {"--crash-one-in", &arguments.options.crash_one_in},
                                                         {"--max-live", &max_live}};
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--store" && (value == "memory" || value == "wal")) {
      arguments.options.wal = value == "wal";
      continue;
    }
    if (flag == "--trace" && value == "on") {
      arguments.options.trace = true;
      continue;
    }
    const auto known = numbers.find(flag);
    const auto number = Number(value);
    if (known == numbers.end() || !number) {
      std::cerr << "ratchet-sim: cannot use '" << flag << " " << value << "'\n" << kHelp;
      return std::nullopt;
    }
    *known->second = *number;
  }
  arguments.options.max_live = static_cast<std::size_t>(max_live);
  return arguments;
}

// Identifies the run, also if a CHECK in the framework ends the process.
char reproduction[256];
std::size_t reproduction_length = 0;

std::string Reproduction(const SimOptions& options) {
  std::string text = fmt::format("reproduce: ratchet-sim --seed {} --steps {}", options.seed, options.steps);
  if (options.wal) text += " --store wal";
  if (options.crash_one_in != 0) text += fmt::format(" --crash-one-in {}", options.crash_one_in);
  if (options.max_live != 0) text += fmt::format(" --max-live {}", options.max_live);
  if (const char* mutant = std::getenv("RATCHET_MUTANT")) text += fmt::format("   (with RATCHET_MUTANT={})", mutant);
  return text + "\n";
}

void OnAbort(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, reproduction, reproduction_length);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void RememberRun(const SimOptions& options) {
  const std::string text = Reproduction(options);
  reproduction_length = text.copy(reproduction, sizeof(reproduction));
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Returns true if runs of this size never covered one of these cases.
bool MetTooLittle(const SimSummary& total) {
  if (total.moves < 300'000) return false;
  bool missing = total.time_outs == 0 || total.lock_waits == 0 || total.undo_steps == 0 || total.reports == 0 ||
                 total.wakes == 0 || total.verbs == 0 || total.quiet_checks == 0 || total.pauses == 0 ||
                 total.reruns == 0 || total.bypasses == 0 || total.turns == 0 || total.comparisons == 0;
  for (const std::uint64_t count : total.crashes) missing = missing || count == 0;
  return missing;
}

int Main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help" || std::string_view(argv[i]) == "-h") {
      std::cout << kHelp;
      return 0;
    }
  }
  std::optional<Arguments> arguments = Parse(argc, argv);
  if (!arguments) return kUsage;
  ConfigureLog({arguments->options.trace ? LogLevel::kInfo : LogLevel::kError, ""});
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, OnAbort);
  SystemClock clock;
  const TimePoint begin = clock.Now();
  const double cpu_begin = CpuSeconds();
  SimOptions options = arguments->options;
  SimSummary total;
  std::uint64_t run = 0;
  const auto more = [&] {
    if (arguments->seconds == 0) return run < arguments->runs;
    return clock.Now() - begin < std::chrono::seconds(arguments->seconds);
  };
  for (; more(); ++run, ++options.seed) {
    RememberRun(options);
    const SimSummary summary = Simulation(options).Run();
    total.Add(summary);
    if (summary.violations.empty()) continue;
    for (const std::string& violation : summary.violations) std::cout << "VIOLATION " << violation << "\n";
    std::cout << fmt::format("found after {} runs, {:.2f} s\n", run + 1, CpuSeconds() - cpu_begin)
              << Reproduction(options);
    return kBroken;
  }
  const double cpu = CpuSeconds() - cpu_begin;
  const double wall = std::chrono::duration<double>(clock.Now() - begin).count();
  const double crashes = static_cast<double>(total.AllCrashes());
  std::string phases;
  for (std::size_t i = 0; i < total.crashes.size(); ++i) {
    phases += fmt::format("{}{} {}", i == 0 ? "" : ", ", kCrashPhaseNames[i], total.crashes[i]);
  }
  std::cout << fmt::format("seeds {}..{}, {} store: {} moves, {} trees ({} succeeded, {} undone)\n",
                           arguments->options.seed, options.seed - 1, options.wal ? "wal" : "memory", total.moves,
                           total.submitted, total.succeeded, total.undone);
  std::cout << fmt::format("met: {} lock waits, {} time-outs, {} wake-ups, {} reports, {} undo steps\n",
                           total.lock_waits, total.time_outs, total.wakes, total.reports, total.undo_steps);
  std::cout << fmt::format(
      "{} locks held from outside; {} masters started paused; {} damaged stores loaded, {} refused\n", total.user_locks,
      total.starts_paused, total.damages, total.damages_refused);
  std::cout << fmt::format("operators: {} verbs; {} pauses, {} reruns, {} bypasses done\n", total.verbs, total.pauses,
                           total.reruns, total.bypasses);
  std::cout << fmt::format(
      "checked: {} quiet moments, {} reload comparisons, {} stretches of taking turns, and every effect\n",
      total.quiet_checks, total.comparisons, total.turns);
  std::cout << fmt::format("crashes {:.0f} ({})\n", crashes, phases);
  std::cout << fmt::format("crashes per minute: {:.0f} of one core's time, {:.0f} by the clock\n", crashes / cpu * 60,
                           crashes / wall * 60);
  if (!MetTooLittle(total)) return 0;
  std::cout << "too little: something above is zero, so these runs prove nothing about it\n";
  return kTooLittle;
}

}  // namespace
}  // namespace ratchet::sim

int main(int argc, char** argv) { return ratchet::sim::Main(argc, argv); }
