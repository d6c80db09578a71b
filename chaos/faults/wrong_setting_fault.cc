#include "chaos/faults/wrong_setting_fault.h"

#include <csignal>
#include <fstream>
#include <utility>

#include <fmt/core.h>

#include "chaos/cluster/child_process.h"
#include "chaos/cluster/log_file.h"
#include "chaos/faults/target.h"
#include "common/base/exit_codes.h"
#include "common/zk/zk_paths.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kRefusal{30'000};
constexpr Millis kConnect{10'000};  // for ZooKeeper, which another fault may block
constexpr const char* kAnotherId = "ffffffff-0000-4000-8000-000000000000";
constexpr const char* kPrograms[] = {"ratchet-master", "ratchet-regionserver"};
// Log lines that such a process must never write: it became the active master, or made the log directory of a region
// server.
constexpr const char* kTaken[] = {"elected as active master", "Start: this server is "};

// Makes a directory that belongs to another cluster.
Result<std::string> MakeAnotherRoot(const std::filesystem::path& root) {
  std::error_code failed;
  std::filesystem::create_directories(root / "wals", failed);
  if (!failed) std::filesystem::create_directories(root / "procedures" / "claim.1", failed);
  if (failed) return Error(Code::kIo, fmt::format("cannot make {}: {}", root.string(), failed.message()));
  std::ofstream id(root / "cluster.id");
  id << kAnotherId << "\n";
  id.close();
  if (!id) return Error(Code::kIo, fmt::format("cannot write {}", (root / "cluster.id").string()));
  return root.string();
}

struct Setting {
  std::string root;
  std::string zookeeper;
  std::string parent;
  int refusal = exit_code::kWrongPlace;

  [[nodiscard]] std::string ToText() const {
    return fmt::format("--root {} --zookeeper {} --zk-parent {}", root, zookeeper, parent);
  }
};

class WrongSetting final : public Fault {
 public:
  ~WrongSetting() override { KillThem(); }

  [[nodiscard]] std::string_view kind() const override { return "wrong-setting"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "this target cannot start more processes";
    return std::nullopt;
  }

  // Both must end by themselves, with the right exit code.
  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const Setting setting, Draw(target, prng));
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    const Status ended = StartBoth(target, setting);
    KillThem();
    if (harm_.empty()) RATCHET_TRY(ended);
    for (const char* program : kPrograms) record.victims.emplace_back(fmt::format("another {}", program));
    record.evidence = harm_.empty()
                          ? fmt::format("with {} both refuse to start, exit code {}", setting.ToText(), setting.refusal)
                          : harm_;
    record.healed = SystemClock().Now();
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& /*prng*/) override { return std::nullopt; }

  // Ends the processes. One that became a part of the cluster despite its wrong setting is the finding.
  [[nodiscard]] Status Heal(Target& /*target*/) override {
    KillThem();
    if (const std::string harm = std::exchange(harm_, ""); !harm.empty()) return Error(Code::kInternal, harm);
    return Ok();
  }

 private:
  static Result<Setting> Draw(Target& target, Prng& prng) {
    const ClusterSpec& spec = target.processes()->spec();
    Setting setting{target.processes()->root(), target.zookeeper(), zk::kDefaultParent};
    const std::uint64_t wrong = prng.Below(4);  // the root, the parent, both, the ensemble
    const std::string unused = fmt::format("/unused-{:x}", prng.Next() >> 40U);
    if (wrong == 0 || wrong == 2) {
      RATCHET_ASSIGN(setting.root, MakeAnotherRoot(spec.dir / "another-root"));
    }
    if (wrong == 1 || wrong == 2) setting.parent = unused;
    if (wrong == 3) {
      RATCHET_ASSIGN(const std::uint16_t port, PickFreePort());
      setting.zookeeper = fmt::format("127.0.0.1:{}", port);
      setting.refusal = exit_code::kZooKeeperUnreachable;
    }
    return setting;
  }

  Status StartBoth(Target& target, const Setting& setting) {
    for (const char* program : kPrograms) RATCHET_TRY(StartOne(target, program, setting));
    return Ok();
  }

  Status StartOne(Target& target, const std::string& program, const Setting& setting) {
    const ClusterSpec& spec = target.processes()->spec();
    RATCHET_ASSIGN(const std::uint16_t port, PickFreePort());
    const bool unreachable = setting.refusal == exit_code::kZooKeeperUnreachable;
    LaunchSpec launch;
    launch.arguments = {spec.bin / program,
                        "--root",
                        setting.root,
                        "--zookeeper",
                        setting.zookeeper,
                        "--zk-parent",
                        setting.parent,
                        "--host",
                        "127.0.0.1",
                        "--port",
                        std::to_string(port),
                        "--zk-connect-timeout-ms",
                        std::to_string(unreachable ? 1'000 : kConnect.count())};
    launch.output = spec.dir / "logs" / "wrong-setting.log";
    const std::uint64_t before = FileSize(launch.output);
    RATCHET_ASSIGN(const ProcessId process, Launch(launch));
    running_.push_back(process);
    std::optional<Ended> ended;
    const Status over = WaitUntil(fmt::format("{} with {} refuses to start", program, setting.ToText()), kRefusal, [&] {
      target.Meanwhile();
      ended = CheckEnded(process);
      return ended.has_value();
    });
    for (const char* taken : kTaken) {
      const auto lines = LinesContaining(launch.output, taken, before);
      if (!lines.empty())
        harm_ = fmt::format("{} with {} became a part of a cluster: {}", program, setting.ToText(), lines.front());
    }
    RATCHET_TRY(over);
    const int code = ended->code.value_or(-1);
    if (code == setting.refusal) return Ok();
    std::string text =
        fmt::format("{} with {} ended with exit code {}, not {}", program, setting.ToText(), code, setting.refusal);
    // ZooKeeper or the root may be unreachable because of another fault; any other exit is not a refusal.
    const bool other_fault = code == exit_code::kZooKeeperUnreachable || code == exit_code::kSessionExpired ||
                             code == exit_code::kRootUnusable || code == exit_code::kNoRoom;
    if (!other_fault && harm_.empty()) harm_ = text;
    return Error(Code::kInternal, std::move(text));
  }

  void KillThem() {
    for (const ProcessId& process : running_)
      IgnoreResult(Signal(process, SIGKILL), "it has ended by itself, as it should");
    running_.clear();
  }

  std::vector<ProcessId> running_;
  std::string harm_;
};

}  // namespace

std::unique_ptr<Fault> MakeWrongSetting() { return std::make_unique<WrongSetting>(); }

}  // namespace ratchet::chaos
