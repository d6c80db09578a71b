// ratchet-regionserver: opens, serves and closes regions, and splits dead servers' logs, on the master's orders.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <unistd.h>

#include "common/base/config.h"
#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/exit_latch.h"
#include "common/base/fault_env.h"
#include "common/base/log.h"
#include "common/base/private_files.h"
#include "common/base/refused_start.h"
#include "common/base/resource_failure.h"
#include "common/base/self_restart.h"
#include "common/base/service_manager.h"
#include "common/base/settings_reload.h"
#include "common/base/stop_signals.h"
#include "common/base/thread_name.h"
#include "common/base/version.h"
#include "common/io/dead_mount.h"
#include "common/io/storage_proof.h"
#include "common/ops/process/access.h"
#include "regionserver/process/options.h"
#include "regionserver/process/region_server.h"

namespace ratchet::regionserver {
namespace {

// State that the threads of the signals and of the end share.
struct Program {
  explicit Program(char* const* argv) : self_restart(clock, argv) {}

  SystemClock clock;
  SelfRestart self_restart;
  ExitLatch exit;
  std::atomic<bool> stop_asked{false};
  std::atomic<RegionServer*> stopping{nullptr};  // set once the server is not restarted under another name
  std::atomic<Settings*> reloadable{nullptr};    // set once the settings are in force
  std::atomic<rights::Users*> groups{nullptr};   // likewise
  std::optional<StopSignals> signals;
};

void HandleSignals(Program& program) {
  program.signals.emplace(
      [&program](const char* name) {
        program.stop_asked = true;
        program.exit.Request(exit_code::kOk, name);
      },
      [&program] {
        ReopenLogOnRequest();
        page::LookAtAccessFiles();
        if (rights::Users* const now = program.groups) now->LoadAgain();
        if (Settings* const now = program.reloadable)
          IgnoreResult(ReloadSettings(*now, "SIGHUP", audit::AuditLog::NoteReload), "the reload logs its result");
      },
      [&program] {
        // Ends at once, without the steps of a requested stop: the fence makes that safe at any time.
        RATCHET_LOG(kWarn, "Stop: asked for again, this process ends at once");
        if (RegionServer* server = program.stopping) server->LeaveZooKeeper();
        FlushLog();
        ::_exit(exit_code::kOk);
      });
}

void FollowSettings(Settings& settings, ServerOptions& options) {
  settings.OnReload("log-level", [&options] { SetLogLevel(LogLevelOf(options.log_level)); });
  const auto set_proof_policy = [&options] { options.proof_policy.Set(rpc::ProofPolicyOf(options.member_proof)); };
  set_proof_policy();
  settings.OnReload("member-proof", set_proof_policy);
  options.settings = [&settings] { return settings.List(); };
  options.reload = [&settings] { return ReloadSettings(settings, "UpdateConfiguration", audit::AuditLog::NoteReload); };
}

// Serves until the end, and returns its reason.
ExitReason Serve(Program& program, RegionServer& server) {
  if (program.self_restart.AwaitDelay(program.exit)) server.Start();
  ExitReason reason = program.exit.Wait();
  reason.code = io::CodeBesideMount(CodeOfEnd(reason));
  if (reason.code == exit_code::kOk) {
    RATCHET_LOG(kInfo, "Stop: {}", reason.why);
    NotifyServiceManager("STOPPING=1");
    program.stopping = &server;
    server.StopInOrder();
    RATCHET_LOG(kInfo, "Stop: done");
  } else {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
  }
  return reason;
}

[[noreturn]] void End(Program& program, RegionServer& server, const ExitReason& reason, bool start_again) {
  if (program.self_restart.Follows(reason, start_again)) {
    server.LeaveZooKeeper();
    audit::AuditLog::EndOfProcess(reason.why);
    FlushLog();
    program.signals.reset();  // a stop requested from here on waits for the next incarnation
    if (!program.stop_asked) program.self_restart.Go(reason);
    RATCHET_LOG(kError, "This process does not restart: {}",
                program.stop_asked ? "a stop was requested" : "exec failed");
  }
  // Ends without destructors, because threads that still run must not use partly destroyed objects.
  audit::AuditLog::EndOfProcess(reason.why);
  FlushLog();
  ::_exit(reason.code);
}

int Run(int argc, char* const* argv) {
  HandleResourceFailure("ratchet-regionserver");
  SetThreadName("main");
  Program program(argv);
  HandleSignals(program);
  Settings settings("ratchet-regionserver", "Serves regions of a Ratchet cluster.");
  ServerOptions options;
  BindOptions(settings, options);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  FollowSettings(settings, options);
  if (const Status opened = OpenLog({LogLevelOf(options.log_level), options.log_file}); !opened.ok()) {
    std::fprintf(stderr, "ratchet-regionserver: --log-file: %s\n", opened.error().message().c_str());
    return exit_code::kUsage;
  }
  if (const auto refused = page::BeginAccess(settings, options, "ratchet-regionserver")) {
    return EndOfRefusedStart(program.self_restart, program.exit, "ratchet-regionserver", *refused, options.start_again);
  }
  program.reloadable = &settings;
  program.groups = options.rights.users.get();
  io::WatchMount(options.root);
  io::StorageProof::SetPolicy(io::ProofPolicyOf(options.storage_proof));
  RATCHET_LOG(kInfo, "Start: this process {}", DescribeDescriptors(RaiseDescriptorLimit()));
  if (const Status taken = ArmFaultsFromEnvironment(options.allow_fault_points); !taken.ok()) {
    RATCHET_LOG(kError, "Start: {}", taken.error().message());
    std::fprintf(stderr, "ratchet-regionserver: %s\n", taken.error().message().c_str());
    return exit_code::kUsage;
  }
  SetResourceFailureHandler([&program, &options](const ExitReason& reason) {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
    FlushLog();
    const bool again = !program.stop_asked && program.self_restart.Follows(reason, options.start_again);
    if (again) program.self_restart.Go(reason);
  });
  const auto end_at_once = [&program, &options](const ExitReason& reason) {
    if (options.start_again && !program.stop_asked) program.self_restart.Go(reason);
    ::_exit(reason.code);
  };
  RegionServer server(
      options, program.exit,
      ProcessLife{program.self_restart.history(), end_at_once, options.allow_fault_points, BuildVersion()});
  const ExitReason reason = Serve(program, server);
  End(program, server, reason, options.start_again);
}

}  // namespace
}  // namespace ratchet::regionserver

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-regionserver", argc, argv)) return 0;
  return ratchet::regionserver::Run(argc, argv);
}
