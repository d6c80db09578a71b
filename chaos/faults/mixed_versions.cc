#include "chaos/faults/mixed_versions.h"

#include <csignal>
#include <utility>

#include <fmt/core.h>

#include "chaos/cluster/released_programs.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kStopsWithin{20'000};
constexpr Millis kServesMixedWithin{30'000};
constexpr Millis kTakesOverMixedWithin{45'000};

enum class Exchange { kServer, kSomeServers, kStandby, kActiveMaster };

bool RunsAs(int pid, const std::filesystem::path& file) {
  std::error_code gone;
  return std::filesystem::equivalent(fmt::format("/proc/{}/exe", pid), file, gone) && !gone;
}

class MixedVersions final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "mixed-versions"; }
  [[nodiscard]] std::string_view Needs() const override {
    return "processes of this machine, and the servers of a release (--released)";
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "programs of this target's processes cannot be exchanged";
    if (target.processes()->released() != nullptr) return std::nullopt;
    return "the servers of a release are missing: scripts/released-binaries VERSION makes them, --released names their "
           "directory";
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    ways_ = prng.Fork();
    const Status done = Break(target, prng, record);
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(2'000, 12'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    Status first = Ok();
    const auto keep = [&first](const Status& status) {
      if (!status.ok() && first.ok()) first = status;
    };
    for (const auto& name : std::exchange(killed_, {})) {
      if (!target.Running(name)) keep(target.Start(name));
    }
    for (const auto& name : std::exchange(older_, {})) {
      keep(End(target, name));
      keep(target.processes()->UseReleased(name, false));
      if (!target.Running(name)) keep(target.Start(name));
    }
    return first;
  }

 private:
  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    const std::uint64_t draw = prng.Below(8);
    const Exchange what = draw < 3   ? Exchange::kServer
                          : draw < 4 ? Exchange::kSomeServers
                          : draw < 5 ? Exchange::kStandby
                                     : Exchange::kActiveMaster;
    RATCHET_ASSIGN(record.victims, Pick(target, prng, what));
    std::string active;
    if (what == Exchange::kActiveMaster) {
      RATCHET_ASSIGN(active, target.ActiveMaster());
    }
    record.evidence = fmt::format("of version {}:", target.processes()->released()->version());
    for (const auto& name : record.victims) RATCHET_TRY(MakeOlder(target, name, record));
    if (!active.empty()) RATCHET_TRY(LetTakeOver(target, active, record));
    return Ok();
  }

  // The only master of a cluster is replaced as a standby is.
  static Result<Victims> Pick(Target& target, Prng& prng, Exchange what) {
    switch (what) {
      case Exchange::kServer: return PickServer(target, prng);
      case Exchange::kSomeServers: return PickSomeServers(target, prng);
      case Exchange::kStandby:
      case Exchange::kActiveMaster: break;
    }
    return target.Names(Role::kMaster).size() > 1 ? PickStandby(target, prng) : PickActiveMaster(target, prng);
  }

  Status MakeOlder(Target& target, const std::string& name, FaultRecord& record) {
    older_.push_back(name);
    RATCHET_TRY(End(target, name));
    ProcessCluster& cluster = *target.processes();
    RATCHET_TRY(cluster.UseReleased(name, true));
    RATCHET_TRY(target.Start(name));
    const bool master = cluster.Info(name).role == Role::kMaster;
    const auto file = cluster.released()->FileOf(master ? "ratchet-master" : "ratchet-regionserver");
    RATCHET_TRY(Await(target, name + " runs as the release's program", kStopsWithin,
                      [&] { return RunsAs(cluster.Info(name).id.pid, file); }));
    record.evidence += fmt::format(" {} (pid {})", name, cluster.Info(name).id.pid);
    if (master) return Ok();
    // Servers are replaced one after the other, as in an upgrade.
    return Await(target, name + " serves as the release's program", kServesMixedWithin,
                 [&] { return !cluster.Info(name).serving_as.empty(); });
  }

  // The killed one starts again when the older one is active.
  Status LetTakeOver(Target& target, const std::string& active, FaultRecord& record) {
    const std::string older = record.victims.front();
    if (older == active) return Ok();
    RATCHET_TRY(target.Kill(active));
    killed_.push_back(active);
    record.victims.push_back(active);
    RATCHET_TRY(Await(target, older + " is the active master", kTakesOverMixedWithin, [&] {
      const auto now = target.ActiveMaster();
      return now.ok() && *now == older;
    }));
    record.evidence += fmt::format("; {} was killed, and {} is active", active, older);
    killed_.clear();
    return target.Start(active);
  }

  template <class Condition>
  static Status Await(Target& target, const std::string& what, Millis timeout, Condition&& condition) {
    return WaitUntil(what, timeout, [&] {
      target.Meanwhile();
      return condition();
    });
  }

  // Ends the process in one of two ways: as an operator does, or by kill -9.
  Status End(Target& target, const std::string& name) {
    if (!target.Running(name)) return Ok();
    if (ways_.Chance(1, 2)) return target.Kill(name);
    target.Expect(name, 0);
    target.Expect(name, 128 + SIGKILL);  // it is killed if it does not end in time
    IgnoreResult(target.processes()->Stop(name, kStopsWithin), "Stop kills a process that does not end in time");
    if (target.Running(name)) return target.Kill(name);
    return Ok();
  }

  Victims older_;   // run as the release's programs
  Victims killed_;  // must be started again
  Prng ways_{1};
};

}  // namespace

std::unique_ptr<Fault> MakeMixedVersions() { return std::make_unique<MixedVersions>(); }

}  // namespace ratchet::chaos
