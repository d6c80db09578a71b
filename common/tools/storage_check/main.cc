// ratchet-storage-check: is this storage fit for the root of a cluster?
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/exit_codes.h"
#include "common/base/private_files.h"
#include "common/base/prng.h"
#include "common/base/resource_failure.h"
#include "common/base/version.h"
#include "common/tools/storage_check/kinds.h"
#include "common/tools/storage_check/trials.h"

namespace ratchet::io {
namespace {

struct Flags {
  std::vector<std::string> directories;
  std::int64_t rounds = 100;
  std::int64_t races = 50;
};

void Print(const StorageFindings& findings, const StorageVerdict& verdict) {
  std::cout << "storage: " << findings.kind << (findings.two_mounts ? ", through two mounts" : ", through one mount")
            << "\n";
  for (const Trial& trial : findings.trials)
    std::cout << (trial.passed ? "  ok      " : "  FAILED  ") << trial.name << (trial.passed ? "" : ": " + trial.why)
              << "\n";
  std::cout << fmt::format("  {:<18} {:>10} {:>10}\n", "microseconds", "p50", "p99");
  for (const OperationTime& each : findings.latencies)
    std::cout << fmt::format("  {:<18} {:>10} {:>10}\n", each.operation, each.p50_us, each.p99_us);
  for (const std::string& remark : verdict.remarks) std::cout << "note: " << remark << "\n";
  std::cout << "verdict: " << verdict.ToString() << std::endl;
}

// Runs the trials in a new directory, which is removed afterwards.
Result<StorageFindings> Try(const Flags& flags) {
  const std::string name = fmt::format("storage-check.{:016x}", RandomSeed());
  const std::string& here = flags.directories.front();
  const std::string& there = flags.directories.back();
  RATCHET_ASSIGN(const auto above, PosixDisk().Open(here));
  RATCHET_TRY(above->MakeDir(name));
  const auto clean = [&] {
    std::error_code failed;
    std::filesystem::remove_all(here + "/" + name, failed);
    if (failed) std::cerr << "ratchet-storage-check: cannot remove " << here << "/" << name << "\n";
  };
  auto first = PosixDisk().Open(here + "/" + name);
  auto second = PosixDisk().Open(there + "/" + name);
  if (!first.ok() || !second.ok()) {
    clean();
    if (!first.ok()) return first.error();
    return second.error().Annotate(there + " does not show what was made in " + here);
  }
  TrialOptions options;
  options.rounds = static_cast<int>(flags.rounds);
  options.fence_races = static_cast<int>(flags.races);
  const SystemClock clock;
  StorageFindings findings = TryStorage(**first, **second, clock, options);
  FillKind(here, findings);
  findings.two_mounts = flags.directories.size() == 2;
  clean();
  return findings;
}

int Main(int argc, char** argv) {
  Flags flags;
  Settings settings(
      "ratchet-storage-check",
      "Tries out whether a directory is fit for the root of a cluster: exclusive creation, names that other "
      "mounts see at once, links, syncs, races of writer and fencer. Makes and removes a directory in it.\n"
      "Exit codes: 0 fit (perhaps with proof), 1 unfit, 2 wrong usage.");
  settings.AddInt({"rounds", "number of attempts of each trial", {}}, &flags.rounds, {1, 100'000});
  settings.AddInt({"races", "number of races between a writer and its fencer", {}}, &flags.races, {0, 100'000});
  settings.AllowPositionals("DIR [the same directory through another mount]", &flags.directories);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  if (flags.directories.empty() || flags.directories.size() > 2) {
    std::cerr << "ratchet-storage-check: expected DIR, or DIR and the same directory through another mount\n";
    return exit_code::kUsage;
  }
  const auto findings = Try(flags);
  if (!findings.ok()) {
    std::cerr << "ratchet-storage-check: " << findings.error().message() << "\n";
    std::cout << "verdict: unfit because it could not be tried" << std::endl;
    return exit_code::kFailed;
  }
  const StorageVerdict verdict = Judge(*findings);
  Print(*findings, verdict);
  return verdict.fitness == Fitness::kUnfit ? exit_code::kFailed : exit_code::kOk;
}

}  // namespace
}  // namespace ratchet::io

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-storage-check", argc, argv)) return 0;
  ratchet::HandleResourceFailure("ratchet-storage-check", ratchet::exit_code::kFailed);
  return ratchet::io::Main(argc, argv);
}
