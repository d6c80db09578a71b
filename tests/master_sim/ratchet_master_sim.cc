// ratchet-master-sim [--seed N] [--moves K] [--runs R] [--trace] [--no-operators] [--no-reshapes] [--no-upkeep]
// [--keep-going]: simulates the master's logic, from fresh seeds unless one is given. Exit code 1: a rule was violated.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/prng.h"
#include "tests/master_sim/master_simulation.h"

namespace {

std::uint64_t NumberAfter(int argc, char** argv, std::string_view flag, std::uint64_t fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == flag) return std::strtoull(argv[i + 1], nullptr, 10);
  }
  return fallback;
}

}  // namespace

int main(int argc, char** argv) {
  using ratchet::simulation::MasterSimOptions;
  using ratchet::simulation::MasterSimSummary;
  MasterSimOptions options;
  for (int i = 1; i < argc; ++i) options.verbose |= std::string_view(argv[i]) == "--trace";
  ratchet::ConfigureLog(
      {options.verbose ? ratchet::LogLevel::kInfo : ratchet::LogLevel::kError, options.verbose ? "" : "/dev/null"});
  bool keep_going = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--no-operators") options.operators = false;
    if (std::string_view(argv[i]) == "--no-reshapes") options.reshapes = false;
    if (std::string_view(argv[i]) == "--no-upkeep") options.upkeep = false;
    if (std::string_view(argv[i]) == "--keep-going") keep_going = true;
  }
  options.moves = NumberAfter(argc, argv, "--moves", options.moves);
  const std::uint64_t first = NumberAfter(argc, argv, "--seed", ratchet::RandomSeed() % 1'000'000'000);
  const std::uint64_t runs = NumberAfter(argc, argv, "--runs", 1);
  MasterSimSummary total;
  std::uint64_t failed = 0;  // seeds
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    options.seed = seed;
    const MasterSimSummary summary = ratchet::simulation::MasterSimulation(options).Run();
    if (!summary.violations.empty()) {
      for (const std::string& violation : summary.violations) std::cout << "VIOLATION " << violation << "\n";
      std::cout << fmt::format("reproduce: ratchet-master-sim --seed {} --moves {} --trace\n", seed, options.moves);
      if (!keep_going) return 1;
      ++failed;
    }
    total.requests += summary.requests;
    total.succeeded += summary.succeeded;
    total.failed += summary.failed;
    total.refused += summary.refused;
    total.procedures += summary.procedures;
    total.server_faults += summary.server_faults;
    total.died_at_commit += summary.died_at_commit;
    total.killed += summary.killed;
    total.deposed += summary.deposed;
    total.commits += summary.commits;
    total.verbs += summary.verbs;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout << fmt::format("seeds {}..{}: {} requests ({} succeeded, {} failed, {} refused), ", first, first + runs - 1,
                           total.requests, total.succeeded, total.failed, total.refused);
  std::cout << fmt::format("{} procedures, {} commits\n", total.procedures, total.commits);
  std::cout << fmt::format(
      "{} faults of servers; masters: {} died at a commit, {} killed, {} deposed; {} verbs; {:.1f} s\n",
      total.server_faults, total.died_at_commit, total.killed, total.deposed, total.verbs, seconds);
  if (failed > 0) std::cout << failed << " seeds failed\n";
  return failed == 0 ? 0 : 1;
}
