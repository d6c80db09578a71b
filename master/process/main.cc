// ratchet-master: elects itself, owns the cluster's state, runs procedures.
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
#include "master/cluster/server_version.h"
#include "master/process/master_config.h"
#include "master/process/master_process.h"
#include "master/process/root_check.h"
#include "master/process/step_list.h"
#include "master/process/store_replay.h"

namespace ratchet::master {
namespace {

int Run(int argc, char* const* argv) {
  HandleResourceFailure("ratchet-master");
  SetThreadName("main");
  const SystemClock clock;
  const SelfRestart self_restart(clock, argv);
  ExitLatch exit;
  std::atomic<bool> stop_asked{false};
  std::atomic<Settings*> reloadable{nullptr};  // set after the settings are applied
  std::optional<StopSignals> signals;
  signals.emplace(
      [&exit, &stop_asked](const char* name) {
        stop_asked = true;
        exit.Request(exit_code::kOk, name);
      },
      [&reloadable] {
        ReopenLogOnRequest();
        tls::ProcessTls::LookAtFilesOfProcess();
        if (Settings* const now = reloadable) IgnoreResult(ReloadSettings(*now, "SIGHUP"), "see the log");
      });

  Settings settings("ratchet-master", "Owns the state of a Ratchet cluster and runs its procedures.");
  MasterConfig config;
  BindMaster(settings, config);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  settings.OnReload("log-level", [&config] { SetLogLevel(LogLevelOf(config.log_level)); });
  const auto set_proof_policy = [&config] { config.proof_policy.Set(rpc::ProofPolicyOf(config.member_proof)); };
  set_proof_policy();
  settings.OnReload("member-proof", set_proof_policy);
  config.settings = [&settings] { return settings.List(); };
  config.reload = [&settings] { return ReloadSettings(settings, "UpdateConfiguration"); };
  if (config.list_steps) {
    std::fputs(ListSteps(config.json ? StepListFormat::kJson : StepListFormat::kText).c_str(), stdout);
    return exit_code::kOk;
  }
  if (!config.replay.empty()) {
    const auto report = ReplayStore(config.replay);
    if (!report.ok()) {
      std::fprintf(stderr, "ratchet-master: --replay: %s\n", report.error().message().c_str());
      return exit_code::kUsage;
    }
    std::fputs(ToText(*report, config.json ? ReplayFormat::kJson : ReplayFormat::kText).c_str(), stdout);
    return report->findings.empty() ? exit_code::kOk : exit_code::kInconclusive;
  }
  if (config.check_root) {
    const auto checks = CheckRootDirectory(config.root);
    if (!checks.ok()) {
      std::fprintf(stderr, "ratchet-master: --check-root: %s\n", checks.error().message().c_str());
      return exit_code::kRootUnusable;
    }
    std::fputs(CheckText(*checks).c_str(), stdout);
    return AnyRefused(*checks) ? exit_code::kWentBack : exit_code::kOk;
  }
  if (config.root.empty() || config.zookeeper.empty()) {
    std::fputs("ratchet-master: --root and --zookeeper are required\n", stderr);
    return exit_code::kUsage;
  }
  if (!ParseServerVersion(config.oldest_server_version)) {
    std::fprintf(stderr, "ratchet-master: --oldest-server-version: '%s' is not of the form 1.2.3\n",
                 config.oldest_server_version.c_str());
    return exit_code::kUsage;
  }
  if (const Status opened = OpenLog({LogLevelOf(config.log_level), config.log_file}); !opened.ok()) {
    std::fprintf(stderr, "ratchet-master: --log-file: %s\n", opened.error().message().c_str());
    return exit_code::kUsage;
  }
  if (const Status opened = tls::ProcessTls::OpenForProcess(settings, config.tls, tls::TlsMaterial::Use::kMember);
      !opened.ok()) {
    std::fprintf(stderr, "ratchet-master: TLS: %s\n", opened.error().message().c_str());
    return exit_code::kUsage;
  }
  reloadable = &settings;
  io::WatchMount(config.root);
  io::StorageProof::SetPolicy(io::ProofPolicyOf(config.storage_proof));
  RATCHET_LOG(kInfo, "Start: this process {}", DescribeDescriptors(RaiseDescriptorLimit()));
  if (const Status taken = ArmFaultsFromEnvironment(config.allow_fault_points); !taken.ok()) {
    RATCHET_LOG(kError, "Start: {}", taken.error().message());
    std::fprintf(stderr, "ratchet-master: %s\n", taken.error().message().c_str());
    return exit_code::kUsage;
  }

  SetResourceFailureHandler([&self_restart, &stop_asked, &config](const ExitReason& reason) {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
    FlushLog();
    if (!stop_asked && self_restart.Follows(reason, config.start_again)) self_restart.Go(reason);
  });
  const auto end_at_once = [&self_restart, &stop_asked, &config](const ExitReason& reason) {
    if (config.start_again && !stop_asked) self_restart.Go(reason);
    ::_exit(reason.code);
  };
  MasterProcess process(config, exit,
                        ProcessLife{self_restart.history(), end_at_once, config.allow_fault_points, BuildVersion()});
  ExitReason reason = self_restart.AwaitDelay(exit) ? process.Run() : exit.Wait();
  reason.code = io::CodeBesideMount(CodeOfEnd(reason));
  if (reason.code == exit_code::kOk) {
    RATCHET_LOG(kInfo, "Stopped: {}", reason.why);
    NotifyServiceManager("STOPPING=1");
  } else {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
    std::fprintf(stderr, "ratchet-master: %s\n", reason.why.c_str());
  }
  if (self_restart.Follows(reason, config.start_again)) {
    process.LeaveZooKeeper();
    FlushLog();
    signals.reset();  // a stop that is requested from here on waits for the next incarnation
    if (!stop_asked) self_restart.Go(reason);
    RATCHET_LOG(kError, "This process does not restart itself: {}",
                stop_asked ? "a stop was requested" : "exec failed");
  }
  // Runs no destructors, because running threads must not use a partly destroyed master.
  FlushLog();
  ::_exit(reason.code);
}

}  // namespace
}  // namespace ratchet::master

int main(int argc, char** argv) {
  if (ratchet::PrintedVersion("ratchet-master", argc, argv)) return 0;
  return ratchet::master::Run(argc, argv);
}
