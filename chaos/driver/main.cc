// ratchet-chaos: runs load against a cluster, breaks it, and judges the result.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "chaos/driver/chaos_run.h"
#include "chaos/driver/console.h"
#include "chaos/driver/listing.h"
#include "chaos/driver/options.h"
#include "chaos/report/bundle.h"
#include "chaos/report/render.h"
#include "chaos/verdict/guards.h"
#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/private_files.h"
#include "common/base/resource_failure.h"
#include "common/base/stop_signals.h"
#include "common/base/version.h"

namespace ratchet::chaos {
namespace {

int Fail(const Error& error) {
  std::cerr << "ratchet-chaos: " << error.ToString() << "\n";
  return error.code() == Code::kInvalidArgument ? exit_code::kUsage : exit_code::kFailed;
}

int WriteReports(const ChaosOptions& options, const RunRecord& run) {
  Status written = Ok();
  if (!options.json.empty()) written = WriteTextFile(options.json, RenderJson(run));
  if (written.ok() && !options.html.empty()) written = WriteTextFile(options.html, RenderHtml(run));
  return written.ok() ? ExitCodeOf(run.verdict) : Fail(written.error());
}

int Main(int argc, char** argv) {
  std::atomic<bool> stop{false};
  StopSignals signals([&](const char* /*name*/) { stop = true; });
  ChaosOptions options;
  if (const int code = ParseChaosOptions(argc, argv, &options); code >= 0) return code;
  if (options.list) {
    std::cout << ListText();
    return exit_code::kOk;
  }
  ConfigureLog({LogLevel::kError, ""});
  if (options.workloads.empty()) {
    for (const auto name : UsualWorkloadNames()) options.workloads.emplace_back(name);
    for (const auto name : WorkloadNames()) {
      if (!options.clients.empty() && NeedsClientProgram(name)) options.workloads.emplace_back(name);
    }
  }
  auto plan = MakePlan(options, FaultKinds());
  if (!plan.ok()) return Fail(plan.error());
  const bool own_directory = options.target == "local" && options.dir.empty();
  if (options.dir.empty() && options.target == "local") {
    options.dir =
        (std::filesystem::temp_directory_path() / fmt::format("ratchet-chaos-{}-{}", options.seed, getpid())).string();
  }
  Console console(isatty(STDOUT_FILENO) != 0, SystemClock().WallMillis());
  console.Say(
      fmt::format("ratchet-chaos: {}, seed {}, {} cluster {}", plan->name, options.seed, options.target, options.dir));
  int code = exit_code::kFailed;
  {
    ChaosRun run(options, std::move(*plan), console, stop);
    const auto record = run.Run();
    if (!record.ok() && stop) {
      console.Say("INCONCLUSIVE  ended by hand before it began: " + record.error().ToString());
      return exit_code::kInconclusive;
    }
    if (!record.ok()) return Fail(record.error());
    console.Say("\n" + RenderText(*record));
    code = WriteReports(options, *record);
  }
  if (own_directory && code == exit_code::kOk && !options.keep) {
    std::error_code ignored;
    std::filesystem::remove_all(options.dir, ignored);
  }
  return code;
}

}  // namespace
}  // namespace ratchet::chaos

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-chaos", argc, argv)) return 0;
  ratchet::HandleResourceFailure("ratchet-chaos", ratchet::exit_code::kFailed);
  ratchet::RaiseDescriptorLimit();
  return ratchet::chaos::Main(argc, argv);
}
