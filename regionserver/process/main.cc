// ratchet-regionserver: opens, serves and closes regions, and splits dead servers' logs, on the master's orders.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <unistd.h>

#include "common/base/config.h"
#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/exit_latch.h"
#include "common/base/fault_env.h"
#include "common/base/log.h"
#include "common/base/resource_failure.h"
#include "common/base/self_restart.h"
#include "common/base/service_manager.h"
#include "common/base/settings_reload.h"
#include "common/base/stop_signals.h"
#include "common/base/thread_name.h"
#include "common/base/version.h"
#include "common/io/dead_mount.h"
#include "common/io/storage_proof.h"
#include "regionserver/process/options.h"
#include "regionserver/process/region_server.h"

namespace ratchet::regionserver {
namespace {

int Run(int argc, char* const* argv) {
  HandleResourceFailure("ratchet-regionserver");
  SetThreadName("main");
  const SystemClock clock;
  const SelfRestart self_restart(clock, argv);
  ExitLatch exit;
  std::atomic<bool> stop_asked{false};
  std::atomic<RegionServer*> stopping{nullptr};  // set once the server is not restarted under another name
  std::atomic<Settings*> reloadable{nullptr};    // set once the settings are in force
  std::optional<StopSignals> signals;
  signals.emplace(
      [&exit, &stop_asked](const char* name) {
        stop_asked = true;
        exit.Request(exit_code::kOk, name);
      },
      [&reloadable] {
        ReopenLogOnRequest();
        tls::ProcessTls::LookAtFilesOfProcess();
        if (Settings* const now = reloadable)
          IgnoreResult(ReloadSettings(*now, "SIGHUP"), "the reload logs its result");
      },
      [&stopping] {
        // Ends at once, without the steps of a requested stop: the fence makes that safe at any time.
        RATCHET_LOG(kWarn, "Stop: asked for again, this process ends at once");
        if (RegionServer* server = stopping) server->LeaveZooKeeper();
        FlushLog();
        ::_exit(exit_code::kOk);
      });

  Settings settings("ratchet-regionserver", "Serves regions of a Ratchet cluster.");
  ServerOptions options;
  BindOptions(settings, options);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  settings.OnReload("log-level", [&options] { SetLogLevel(LogLevelOf(options.log_level)); });
  const auto set_proof_policy = [&options] { options.proof_policy.Set(rpc::ProofPolicyOf(options.member_proof)); };
  set_proof_policy();
  settings.OnReload("member-proof", set_proof_policy);
  options.settings = [&settings] { return settings.List(); };
  options.reload = [&settings] { return ReloadSettings(settings, "UpdateConfiguration"); };
  if (const Status opened = OpenLog({LogLevelOf(options.log_level), options.log_file}); !opened.ok()) {
    std::fprintf(stderr, "ratchet-regionserver: --log-file: %s\n", opened.error().message().c_str());
    return exit_code::kUsage;
  }
  if (const Status opened = tls::ProcessTls::OpenForProcess(settings, options.tls, tls::TlsMaterial::Use::kMember);
      !opened.ok()) {
    std::fprintf(stderr, "ratchet-regionserver: TLS: %s\n", opened.error().message().c_str());
    return exit_code::kUsage;
  }
  reloadable = &settings;
  io::WatchMount(options.root);
  io::StorageProof::SetPolicy(io::ProofPolicyOf(options.storage_proof));
  RATCHET_LOG(kInfo, "Start: this process {}", DescribeDescriptors(RaiseDescriptorLimit()));
  if (const Status taken = ArmFaultsFromEnvironment(options.allow_fault_points); !taken.ok()) {
    RATCHET_LOG(kError, "Start: {}", taken.error().message());
    std::fprintf(stderr, "ratchet-regionserver: %s\n", taken.error().message().c_str());
    return exit_code::kUsage;
  }

  SetResourceFailureHandler([&self_restart, &stop_asked, &options](const ExitReason& reason) {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
    FlushLog();
    if (!stop_asked && self_restart.Follows(reason, options.start_again)) self_restart.Go(reason);
  });
  const auto end_at_once = [&self_restart, &stop_asked, &options](const ExitReason& reason) {
    if (options.start_again && !stop_asked) self_restart.Go(reason);
    ::_exit(reason.code);
  };
  RegionServer server(options, exit,
                      ProcessLife{self_restart.history(), end_at_once, options.allow_fault_points, BuildVersion()});
  if (self_restart.AwaitDelay(exit)) server.Start();
  ExitReason reason = exit.Wait();
  reason.code = io::CodeBesideMount(CodeOfEnd(reason));
  if (reason.code == exit_code::kOk) {
    RATCHET_LOG(kInfo, "Stop: {}", reason.why);
    NotifyServiceManager("STOPPING=1");
    stopping = &server;
    server.StopInOrder();
    RATCHET_LOG(kInfo, "Stop: done");
  } else {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
  }
  if (self_restart.Follows(reason, options.start_again)) {
    server.LeaveZooKeeper();
    FlushLog();
    signals.reset();  // a stop requested from here on waits for the next incarnation
    if (!stop_asked) self_restart.Go(reason);
    RATCHET_LOG(kError, "This process does not restart: {}", stop_asked ? "a stop was requested" : "exec failed");
  }
  // Ends without destructors, because threads that still run must not use partly destroyed objects.
  FlushLog();
  ::_exit(reason.code);
}

}  // namespace
}  // namespace ratchet::regionserver

int main(int argc, char** argv) {
  if (ratchet::PrintedVersion("ratchet-regionserver", argc, argv)) return 0;
  return ratchet::regionserver::Run(argc, argv);
}
