#include "chaos/faults/process_faults.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "chaos/faults/held_move.h"

namespace ratchet::chaos {
namespace {

constexpr Lasting kSoon{200, 3'000, false};
constexpr Lasting kBeyondSession{150, 300, true};
constexpr Lasting kBelowSession{10, 60, true};
constexpr Lasting kStall{50, 500, false};
constexpr Millis kAtOnce{0};

constexpr ProcessFaultKind kProcessKinds[] = {
    {"kill-active-master", ProcessVerb::kKill, PickActiveMaster, kSoon, kAtOnce},
    {"kill-standby", ProcessVerb::kKill, PickStandby, kSoon, kAtOnce},
    {"kill-meta-holder", ProcessVerb::kKill, PickMetaHolder, kSoon, kAtOnce},
    {"kill-server", ProcessVerb::kKill, PickServer, kSoon, kAtOnce},
    {"kill-some", ProcessVerb::kKill, PickSomeServers, kSoon, Millis(500)},
    {"kill-all-servers", ProcessVerb::kKill, PickAllServers, kSoon, kAtOnce},
    {"kill-master-and-meta-holder", ProcessVerb::kKill, PickMasterAndMetaHolder, kSoon, Millis(100)},
    {"pause-server", ProcessVerb::kPause, PickServer, kBeyondSession, kAtOnce},
    {"pause-server-briefly", ProcessVerb::kPause, PickServer, kBelowSession, kAtOnce},
    {"pause-active-master", ProcessVerb::kPause, PickActiveMaster, kBeyondSession, kAtOnce},
    {"stall", ProcessVerb::kPause, PickAnyProcess, kStall, kAtOnce},
    {"swizzle", ProcessVerb::kPause, PickSwizzle, {10, 200, true}, Millis(300)},
    {"kill-zookeeper", ProcessVerb::kKill, PickZooKeeper, {0, 300, false}, kAtOnce},
    {"kill-zookeeper-leader", ProcessVerb::kKill, PickZooKeeperLeader, kSoon, kAtOnce},
    {"kill-zookeeper-majority", ProcessVerb::kKill, PickZooKeeperMajority, kBeyondSession, kAtOnce},
    {"zookeeper-outage", ProcessVerb::kKill, PickAllZooKeepers, {200, 500, true}, kAtOnce},
    {"zookeeper-outage-brief", ProcessVerb::kKill, PickAllZooKeepers, kBelowSession, kAtOnce},
    {"pause-zookeeper", ProcessVerb::kPause, PickZooKeeper, {20, 300, true}, kAtOnce},
    {"pause-zookeeper-leader", ProcessVerb::kPause, PickZooKeeperLeader, {100, 300, true}, kAtOnce},
};

constexpr Millis kElectedWithin{10'000};

// Returns "rs-2 (pid 4711)"; for a ZooKeeper member also its role: "zookeeper-2 (leader, pid 4712)".
std::string Quoted(Target& target, const std::string& name) {
  ProcessCluster* cluster = target.processes();
  if (cluster == nullptr) return name;
  std::string mode = target.ZooKeeperStateOf(name).mode;
  mode = mode.empty() || mode == "standalone" ? "" : mode + ", ";
  return fmt::format("{} ({}pid {})", name, mode, cluster->Info(name).id.pid);
}

// Waits until the others have elected a leader without the victim, which led in `epoch`, so that the victim does not
// return during the election.
std::string NewLeader(Target& target, std::uint64_t epoch) {
  const auto begun = SystemClock().Now();
  std::string leader;
  const Status elected = WaitUntil("a leader of ZooKeeper", kElectedWithin, [&] {
    target.Meanwhile();
    for (const auto& name : RunningOnes(target, Role::kZooKeeper)) {
      const ZooKeeperState state = target.ZooKeeperStateOf(name);
      if (state.mode == "leader" && state.epoch > epoch) leader = name;
    }
    return !leader.empty();
  });
  const auto after = std::chrono::duration_cast<Millis>(SystemClock().Now() - begun).count();
  return elected.ok() ? fmt::format("; {} leads after {} ms", leader, after)
                      : fmt::format("; no member leads after {} ms", after);
}

// Without a majority the remaining members answer no client and close their connections. True when that has happened.
std::string NobodyServes(Target& target) {
  const Status stopped = WaitUntil("an end of ZooKeeper's service", kElectedWithin, [&] {
    target.Meanwhile();
    const Victims left = RunningOnes(target, Role::kZooKeeper);
    return std::all_of(left.begin(), left.end(),
                       [&](const auto& name) { return target.ZooKeeperStateOf(name).mode.empty(); });
  });
  return stopped.ok() ? "; the remaining members do not serve" : "; the remaining members still serve";
}

bool OfAPartOfZooKeeper(const ProcessFaultKind& what) {
  return what.pick == PickZooKeeperLeader || what.pick == PickZooKeeperMajority ||
         (what.pick == PickAllZooKeepers && what.kind != "zookeeper-outage");
}

class ProcessFault final : public Fault {
 public:
  explicit ProcessFault(const ProcessFaultKind& what) : what_(what) {}

  [[nodiscard]] std::string_view kind() const override { return what_.kind; }

  [[nodiscard]] std::string_view Needs() const override {
    if (what_.pick == PickStandby) return "any target with 2 masters";
    if (what_.pick == PickSomeServers) return "any target with 3 region servers";
    if (OfAPartOfZooKeeper(what_)) return kNeedsEnsemble;
    return kAnyTarget;
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (what_.pick == PickStandby && target.Names(Role::kMaster).size() < 2) return "there is only one master";
    if (what_.pick == PickSomeServers && target.Names(Role::kRegionServer).size() < 3) {
      return "there are fewer than three region servers";
    }
    if (OfAPartOfZooKeeper(what_)) return WhyNoEnsemble(target);
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_CHECK(broken_.empty(), "a fault is healed before it is injected again");
    session_ = target.session_timeout();
    RATCHET_ASSIGN(const auto victims, what_.pick(target, prng));
    resume_order_ = prng.Fork().Next();
    FaultRecord record;
    record.kind = what_.kind;
    record.victims = victims;
    const bool kills = what_.verb == ProcessVerb::kKill;
    HeldMove work;
    if (kills) {
      const auto active = target.ActiveMaster();
      record.kills_master = active.ok() && std::find(victims.begin(), victims.end(), *active) != victims.end();
      if (record.kills_master && HoldsWork(target)) {
        IgnoreResult(work.Begin(target, prng, victims), "without the held move the kill meets other work");
      }
    }
    const std::uint64_t epoch = target.ZooKeeperStateOf(victims.front()).epoch;  // epoch of a leader
    record.injected = SystemClock().Now();
    const Status done = BreakEach(target, prng, victims, record);
    work.LetGo(target);
    if (!done.ok()) {
      IgnoreResult(Heal(target), "the first error is returned");
      return done.error().Annotate(what_.kind);
    }
    if (what_.pick == PickZooKeeperLeader) record.evidence += NewLeader(target, epoch);
    if (what_.pick == PickZooKeeperMajority) record.evidence += NobodyServes(target);
    record.unfinished_pid = work.pid();
    if (work.pid() != 0) record.evidence += fmt::format(" while {} was unfinished", work.text());
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    const std::int64_t drawn = prng.Between(what_.lasting.least, what_.lasting.most);
    return Millis(what_.lasting.of_session ? drawn * session_.count() / 100 : drawn);
  }

  [[nodiscard]] Status Heal(Target& target) override {
    if (KillsZooKeeper()) {
      Victims down = std::exchange(broken_, {});
      std::erase_if(down, [&](const auto& name) { return target.Running(name); });
      return target.StartZooKeepers(down);
    }
    Prng order(resume_order_);
    Status first = Ok();
    bool next = false;
    for (const auto& name : RandomSubset(broken_, broken_.size(), order)) {
      if (next) Gap(order);
      next = true;
      const Status done = what_.verb == ProcessVerb::kKill ? SelfRestart(target, name) : GoOn(target, name);
      if (!done.ok() && first.ok()) first = done;
    }
    broken_.clear();
    return first;
  }

 private:
  // A container engine takes longer to kill a master than most procedures take, so a move is held for each kill. On
  // this machine a kill meets the load's procedures, and a move is held for three kills in four.
  [[nodiscard]] bool HoldsWork(Target& target) const { return target.processes() == nullptr || resume_order_ % 4 != 0; }

  [[nodiscard]] bool KillsZooKeeper() const {
    return what_.verb == ProcessVerb::kKill &&
           (what_.pick == PickZooKeeper || what_.pick == PickAllZooKeepers || OfAPartOfZooKeeper(what_));
  }

  Status BreakEach(Target& target, Prng& prng, const Victims& victims, FaultRecord& record) {
    const bool kills = what_.verb == ProcessVerb::kKill;
    std::map<std::string, std::string> shown;  // the state of each before the first was broken
    for (const auto& name : victims) shown[name] = Quoted(target, name);
    for (const auto& name : victims) {
      if (!broken_.empty()) Gap(prng);
      RATCHET_TRY(kills ? target.Kill(name) : target.Pause(name));
      broken_.push_back(name);
      if (!record.evidence.empty()) record.evidence += ", ";
      record.evidence += shown[name] + (kills ? " is gone" : " is stopped");
    }
    return Ok();
  }

  void Gap(Prng& prng) const {
    if (what_.largest_gap > Millis(0)) std::this_thread::sleep_for(Millis(prng.Between(0, what_.largest_gap.count())));
  }

  static Status SelfRestart(Target& target, const std::string& name) {
    return target.Running(name) ? Ok() : target.Start(name);
  }

  // A process that was paused for longer than its session notices and restarts itself; a process that has ended is
  // started.
  Status GoOn(Target& target, const std::string& name) const {
    if (!target.Running(name)) return target.Start(name);
    const std::uint32_t before = target.CameAgain(name);
    RATCHET_TRY(target.Resume(name));
    if (what_.lasting.of_session && what_.lasting.least > 100) {
      constexpr Millis kNoticesWithin{3'000};
      const auto left = WaitUntil(name + " leaves", kNoticesWithin,
                                  [&] { return !target.Running(name) || target.CameAgain(name) > before; });
      if (left.ok() && !target.Running(name)) return target.Start(name);
    }
    return Ok();
  }

  const ProcessFaultKind& what_;
  Millis session_{2'000};
  Victims broken_;
  std::uint64_t resume_order_ = 0;
};

}  // namespace

std::unique_ptr<Fault> MakeProcessFault(std::string_view kind) {
  for (const auto& candidate : kProcessKinds) {
    if (candidate.kind == kind) return std::make_unique<ProcessFault>(candidate);
  }
  return nullptr;
}

std::vector<std::string_view> ProcessFaultKinds() {
  std::vector<std::string_view> kinds;
  for (const auto& candidate : kProcessKinds) kinds.push_back(candidate.kind);
  return kinds;
}

}  // namespace ratchet::chaos
