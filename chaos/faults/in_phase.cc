#include "chaos/faults/in_phase.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/phase_deck.h"
#include "chaos/faults/phase_occasion.h"
#include "chaos/faults/victims.h"
#include "common/base/fault_env.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kPhaseWithin{20'000};

// A fault lives for one time only; pairs are dealt over the whole run.
PhaseDeck& DeckOfRun(std::uint64_t seed) {
  static PhaseDeck deck(seed);
  return deck;
}

class InPhase final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "in-phase"; }
  [[nodiscard]] std::string_view Needs() const override {
    return "processes of this machine, 2 masters, 3 region servers; masters that hold phases (scenario overlap)";
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "processes of this target cannot be started with fault points armed";
    if (target.Names(Role::kMaster).size() < 2 || target.Names(Role::kRegionServer).size() < 3) {
      return "this fault needs two masters and three region servers";
    }
    const Environment& given = target.processes()->spec().environment;
    if (given.find(kFaultsVariable) == given.end()) {
      return "the masters hold no phases; --scenario overlap, or --faults in-phase, has them do so";
    }
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    session_ = target.session_timeout();
    PhaseDeck& deck = DeckOfRun(prng.Next());
    const PhasePair pair = deck.Next();
    FaultRecord record;
    record.kind = kind();
    record.second = pair.second;
    record.phase = PhaseName(pair.phase);
    record.injected = SystemClock().Now();
    const Status done = Break(target, prng, pair, record);
    if (done.ok()) return record;
    deck.Missed(pair);
    IgnoreResult(Heal(target), "the first error says more");
    return done.error().Annotate(fmt::format("{} in {}", pair.second, PhaseName(pair.phase)));
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    if (paused_.empty()) return Millis(prng.Between(200, 3'000));
    return Millis(prng.Between(150, 300) * session_.count() / 100);
  }

  [[nodiscard]] Status Heal(Target& target) override {
    Status first = Ok();
    const auto keep = [&first](const Status& status) {
      if (!status.ok() && first.ok()) first = status;
    };
    for (const auto& name : std::exchange(paused_, {})) {
      keep(target.Running(name) ? target.Resume(name) : target.Start(name));
    }
    for (const auto& name : std::exchange(killed_, {})) {
      if (!target.Running(name)) keep(target.Start(name));
    }
    if (occasion_) occasion_->Recommission(target);
    return first;
  }

 private:
  Status Break(Target& target, Prng& prng, const PhasePair& pair, FaultRecord& record) {
    occasion_.emplace(pair.phase);
    RATCHET_TRY(occasion_->Prepare(target, prng));
    // Both are chosen while a master answers.
    RATCHET_ASSIGN(const std::string spared, occasion_->FirstVictim(target, prng));
    RATCHET_ASSIGN(const std::string victim, PickSecond(target, prng, pair.second, spared));
    if (!spared.empty()) {
      RATCHET_TRY(target.Kill(spared));
      killed_.insert(spared);
      record.evidence = spared + " is gone; ";
    }
    if (pair.phase.type == kActivationType) {
      killed_.erase(spared);
      RATCHET_TRY(target.Start(spared));  // the second fault may take its successor, and a master must be left
    }
    RATCHET_TRY(occasion_->Begin(target, prng));
    RATCHET_TRY(AwaitPhase(target));
    const std::string who = victim.empty() ? occasion_->successor() : victim;
    RATCHET_TRY(Strike(target, pair.second, who));
    RATCHET_TRY(occasion_->CheckUnfinished(target, pair.second == "kill-active-master"));
    record.victims = {who};
    if (!spared.empty()) record.victims.insert(record.victims.begin(), spared);
    record.evidence += fmt::format("{} is {} while {} was at {}", who, paused_.empty() ? "gone" : "stopped",
                                   occasion_->ToText(), record.phase);
    record.unfinished_pid = occasion_->pid();
    record.kills_master = pair.second == "kill-active-master" && occasion_->pid() != 0;
    return Ok();
  }

  Status AwaitPhase(Target& target) {
    const TimePoint until = SystemClock().Now() + kPhaseWithin + session_ * 3;
    for (int round = 0; SystemClock().Now() < until; ++round) {
      RATCHET_ASSIGN(const bool reached, occasion_->Reached(target));
      if (reached) return Ok();
      if (round % 16 == 15) target.Meanwhile();
      PollPause(std::min(round, 8));  // a phase is held for a fraction of a second
    }
    return Error(Code::kTimeout, "the phase did not occur; " + occasion_->ToText());
  }

  // Empty: the master that is just being activated, whose name is not known yet.
  static Result<std::string> PickSecond(Target& target, Prng& prng, std::string_view second,
                                        const std::string& spared) {
    if (second == "kill-active-master") {
      RATCHET_ASSIGN(const std::string active, target.ActiveMaster());
      return active == spared ? std::string() : active;
    }
    if (second == "kill-meta-holder") {
      RATCHET_ASSIGN(const std::string holder, target.MetaHolder());
      if (holder != spared) return holder;
      return Error(Code::kUnavailable, spared + " is the victim of the first fault and holds hbase:meta");
    }
    Victims servers = RunningOnes(target, Role::kRegionServer);
    std::erase(servers, spared);
    if (servers.size() < 2) return Error(Code::kUnavailable, "no region server would be left");
    return servers[prng.Below(servers.size())];
  }

  Status Strike(Target& target, std::string_view second, const std::string& who) {
    if (second == "pause-server") {
      RATCHET_TRY(target.Pause(who));
      paused_.insert(who);
      return Ok();
    }
    RATCHET_TRY(target.Kill(who));
    killed_.insert(who);
    return Ok();
  }

  Millis session_{2'000};
  std::optional<PhaseOccasion> occasion_;
  std::set<std::string> killed_;
  std::set<std::string> paused_;
};

}  // namespace

std::unique_ptr<Fault> MakeInPhase() { return std::make_unique<InPhase>(); }

}  // namespace ratchet::chaos
