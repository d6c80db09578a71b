#include "chaos/faults/hung_sync.h"

#include <map>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/shim_victims.h"
#include "chaos/faults/victims.h"
#include "chaos/shim/process_shims.h"

namespace ratchet::chaos {
namespace {

constexpr std::int32_t kForEver = 3'600'000;  // hangs until it is healed
constexpr Millis kFeltWithin{10'000};
// The servers' limit is 10 s (--sync-timeout-ms); the rest is time for a report, its answer, and the end.
constexpr std::int64_t kShortest = 17'000;
constexpr std::int64_t kLongest = 25'000;

Result<Victims> PickEveryServer(Target& target, Prng& prng) {
  const Victims all = RunningServers(target);
  if (all.empty()) return Error(Code::kUnavailable, "no server runs");
  return RandomSubset(all, all.size(), prng);
}

class HungSync final : public Fault {
 public:
  HungSync(std::string_view kind, PickVictims pick) : kind_(kind), pick_(pick) {}

  [[nodiscard]] std::string_view kind() const override { return kind_; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsShims; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoShims(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const auto victims, pick_(target, prng));
    FaultRecord record;
    record.kind = kind_;
    record.victims = victims;
    record.kills_master = pick_ == PickActiveMaster;
    if (record.kills_master) GiveTheMasterWork(target, prng);
    record.injected = injected_ = SystemClock().Now();
    std::map<std::string, std::uint64_t> before;
    for (const auto& name : victims) {
      RATCHET_ASSIGN(ShimControl* const control, target.shims()->Of(name));
      before[name] = control->syncs_delayed;
      came_again_[name] = target.CameAgain(name);
      control->sync_delay_ms = kForEver;
    }
    // A standby syncs nothing; if several hang, one is enough to show that the order has arrived.
    const Status felt = WaitUntil("a sync that hangs", kFeltWithin, [&] {
      target.Meanwhile();
      std::size_t hanging = 0;
      for (const auto& name : victims) {
        const auto control = target.shims()->Of(name);
        if (control.ok() && (*control)->syncs_delayed > before[name]) ++hanging;
      }
      return hanging > 0;
    });
    if (!felt.ok()) {
      came_again_.clear();
      for (const auto& name : victims) BehaveAgain(target, name);
      return felt.error().Annotate(kind_);
    }
    record.evidence = fmt::format("syncs of {} processes do not return", victims.size());
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    return Millis(prng.Between(kShortest, kLongest));
  }

  // A process that hung alone has withdrawn by now, unless the run ended the fault early; if several hung together,
  // none has.
  [[nodiscard]] Status Heal(Target& target) override {
    std::string wrong;
    const bool early = SystemClock().Now() - injected_ < Millis(kShortest);
    for (const auto& [name, before] : came_again_) {
      const bool left = !target.Running(name) || target.CameAgain(name) > before;
      const bool alone = came_again_.size() == 1;
      if (left != alone && !(alone && early)) {
        wrong += fmt::format("{}{} {}", wrong.empty() ? "" : ", ", name, left ? "has withdrawn" : "has not withdrawn");
      }
    }
    Status first = wrong.empty() ? Ok() : Status(Error(Code::kInternal, fmt::format("{}: {}", kind_, wrong)));
    for (const auto& [name, before] : std::exchange(came_again_, {})) {
      BehaveAgain(target, name);
      if (target.Running(name)) continue;
      Status started = target.Start(name);
      if (first.ok()) first = std::move(started);
    }
    return first;
  }

 private:
  // A master syncs only when it has work: the later steps of this move.
  static void GiveTheMasterWork(Target& target, Prng& prng) {
    const auto client = ClusterClient::Open(target);
    if (client.ok()) IgnoreResult((*client)->MoveSomething(prng), "without the move other work shows the hang");
  }

  static void BehaveAgain(Target& target, const std::string& name) {
    const auto control = target.shims()->Of(name);
    if (control.ok()) Behave(**control);
  }

  const std::string kind_;
  const PickVictims pick_;
  std::map<std::string, std::uint32_t> came_again_;  // restarts of each victim before the fault
  TimePoint injected_{};
};

}  // namespace

std::unique_ptr<Fault> MakeHungSyncServer() { return std::make_unique<HungSync>("hung-sync-server", PickServer); }
std::unique_ptr<Fault> MakeHungSyncMetaHolder() {
  return std::make_unique<HungSync>("hung-sync-meta-holder", PickMetaHolder);
}
std::unique_ptr<Fault> MakeHungSyncMaster() { return std::make_unique<HungSync>("hung-sync-master", PickActiveMaster); }
std::unique_ptr<Fault> MakeHungSyncEverywhere() {
  return std::make_unique<HungSync>("hung-sync-everywhere", PickEveryServer);
}

}  // namespace ratchet::chaos
