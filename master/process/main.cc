// ratchet-master: elects itself, owns the cluster's state, runs procedures.
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
#include "master/cluster/server_version.h"
#include "master/process/master_config.h"
#include "master/process/master_process.h"
#include "master/process/root_check.h"
#include "master/process/step_list.h"
#include "master/process/store_replay.h"
#include "master/storage/fence_command.h"

namespace ratchet::master {
namespace {

// State that the threads of the signals and of the end share.
struct Program {
  explicit Program(char* const* argv) : self_restart(clock, argv) {}

  SystemClock clock;
  SelfRestart self_restart;
  ExitLatch exit;
  std::atomic<bool> stop_asked{false};
  std::atomic<Settings*> reloadable{nullptr};   // set after the settings are applied
  std::atomic<rights::Users*> groups{nullptr};  // likewise
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
          IgnoreResult(ReloadSettings(*now, "SIGHUP", audit::AuditLog::NoteReload), "see the log");
      });
}

void FollowSettings(Settings& settings, MasterConfig& config) {
  settings.OnReload("log-level", [&config] { SetLogLevel(LogLevelOf(config.log_level)); });
  const auto set_proof_policy = [&config] { config.proof_policy.Set(rpc::ProofPolicyOf(config.member_proof)); };
  set_proof_policy();
  settings.OnReload("member-proof", set_proof_policy);
  const auto set_zk_acl = [&config] { config.closes_zookeeper.Set(config.zk_acl == "set"); };
  set_zk_acl();
  settings.OnReload("zk-acl", set_zk_acl);
  config.settings = [&settings] { return settings.List(); };
  config.reload = [&settings] { return ReloadSettings(settings, "UpdateConfiguration", audit::AuditLog::NoteReload); };
}

// Does what is asked for instead of a start. Returns the exit code; nullopt: a start is asked for.
std::optional<int> AnswerInstead(const MasterConfig& config) {
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
  if (!config.check_root) return std::nullopt;
  const auto checks = CheckRootDirectory(config.root);
  if (!checks.ok()) {
    std::fprintf(stderr, "ratchet-master: --check-root: %s\n", checks.error().message().c_str());
    return exit_code::kRootUnusable;
  }
  std::fputs(CheckText(*checks).c_str(), stdout);
  return AnyRefused(*checks) ? exit_code::kWentBack : exit_code::kOk;
}

// Returns false, with a word on standard error, when the settings do not allow a start.
bool CheckUsage(const MasterConfig& config) {
  if (config.root.empty() || config.zookeeper.empty()) {
    std::fputs("ratchet-master: --root and --zookeeper are required\n", stderr);
    return false;
  }
  if (!ParseServerVersion(config.oldest_server_version)) {
    std::fprintf(stderr, "ratchet-master: --oldest-server-version: '%s' is not of the form 1.2.3\n",
                 config.oldest_server_version.c_str());
    return false;
  }
  if (!config.fence.command.empty()) {
    const auto parsed = ParseFenceCommand(config.fence.command, config.fence.environment);
    if (!parsed.ok()) {
      std::fprintf(stderr, "ratchet-master: %s\n", parsed.error().message().c_str());
      return false;
    }
  }
  if (const Status opened = OpenLog({LogLevelOf(config.log_level), config.log_file}); !opened.ok()) {
    std::fprintf(stderr, "ratchet-master: --log-file: %s\n", opened.error().message().c_str());
    return false;
  }
  return true;
}

[[noreturn]] void End(Program& program, MasterProcess& process, const ExitReason& reason, bool start_again) {
  if (reason.code == exit_code::kOk) {
    RATCHET_LOG(kInfo, "Stopped: {}", reason.why);
    NotifyServiceManager("STOPPING=1");
  } else {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
    std::fprintf(stderr, "ratchet-master: %s\n", reason.why.c_str());
  }
  if (program.self_restart.Follows(reason, start_again)) {
    process.LeaveZooKeeper();
    audit::AuditLog::EndOfProcess(reason.why);
    FlushLog();
    program.signals.reset();  // a stop that is requested from here on waits for the next incarnation
    if (!program.stop_asked) program.self_restart.Go(reason);
    RATCHET_LOG(kError, "This process does not restart itself: {}",
                program.stop_asked ? "a stop was requested" : "exec failed");
  }
  // Runs no destructors, because running threads must not use a partly destroyed master.
  audit::AuditLog::EndOfProcess(reason.why);
  FlushLog();
  ::_exit(reason.code);
}

int Run(int argc, char* const* argv) {
  HandleResourceFailure("ratchet-master");
  SetThreadName("main");
  Program program(argv);
  HandleSignals(program);
  Settings settings("ratchet-master", "Owns the state of a Ratchet cluster and runs its procedures.");
  MasterConfig config;
  BindMaster(settings, config);
  if (const int code = settings.ParseOrExitCode(argc, argv); code >= 0) return code;
  FollowSettings(settings, config);
  if (const auto code = AnswerInstead(config)) return *code;
  if (!CheckUsage(config)) return exit_code::kUsage;
  if (const auto refused = page::BeginAccess(settings, config, "ratchet-master")) {
    return EndOfRefusedStart(program.self_restart, program.exit, "ratchet-master", *refused, config.start_again);
  }
  program.reloadable = &settings;
  program.groups = config.rights.users.get();
  io::WatchMount(config.root);
  io::StorageProof::SetPolicy(io::ProofPolicyOf(config.storage_proof));
  RATCHET_LOG(kInfo, "Start: this process {}", DescribeDescriptors(RaiseDescriptorLimit()));
  if (const Status taken = ArmFaultsFromEnvironment(config.allow_fault_points); !taken.ok()) {
    RATCHET_LOG(kError, "Start: {}", taken.error().message());
    std::fprintf(stderr, "ratchet-master: %s\n", taken.error().message().c_str());
    return exit_code::kUsage;
  }
  SetResourceFailureHandler([&program, &config](const ExitReason& reason) {
    RATCHET_LOG(kError, "Exit with code {}: {}", reason.code, reason.why);
    FlushLog();
    const bool again = !program.stop_asked && program.self_restart.Follows(reason, config.start_again);
    if (again) program.self_restart.Go(reason);
  });
  const auto end_at_once = [&program, &config](const ExitReason& reason) {
    if (config.start_again && !program.stop_asked) program.self_restart.Go(reason);
    ::_exit(reason.code);
  };
  MasterProcess process(
      config, program.exit,
      ProcessLife{program.self_restart.history(), end_at_once, config.allow_fault_points, BuildVersion()});
  ExitReason reason = program.self_restart.AwaitDelay(program.exit) ? process.Run() : program.exit.Wait();
  reason.code = io::CodeBesideMount(CodeOfEnd(reason));
  End(program, process, reason, config.start_again);
}

}  // namespace
}  // namespace ratchet::master

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (ratchet::PrintedVersion("ratchet-master", argc, argv)) return 0;
  return ratchet::master::Run(argc, argv);
}
