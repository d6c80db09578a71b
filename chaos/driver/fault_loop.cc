#include "chaos/driver/fault_loop.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "chaos/cluster/child_process.h"

namespace ratchet::chaos {

FaultLoop::FaultLoop(Target& target, FaultLoopOptions options, FaultLoopHooks hooks)
    : target_(target), options_(options), hooks_(std::move(hooks)) {}

Status FaultLoop::Run(const std::vector<PlannedFault>& schedule) {
  Status done = RunFaults(schedule);
  const Status healed = HealAll();
  if (done.ok()) done = healed;
  if (done.ok()) done = AwaitSettled();
  return done;
}

Status FaultLoop::RunFaults(const std::vector<PlannedFault>& schedule) {
  const TimePoint start = Now();
  for (const auto& planned : schedule) {
    // Wait for the fault's time, and for a free slot.
    for (int round = 0;; ++round) {
      RATCHET_TRY(HealDue());
      if (active_.empty() && options_.intensity == 1) RATCHET_TRY(AwaitSettled());
      NoteSettled();
      if (hooks_.stop() || Now() - start >= options_.duration) return Ok();
      if (Now() - start >= planned.at) {
        RATCHET_ASSIGN(const bool room, HasRoom(planned.kind));
        if (room) break;
      }
      Tick(round);
    }
    RATCHET_TRY(InjectOne(planned));
  }
  return Ok();
}

std::vector<std::string> FaultLoop::ActiveKinds() const {
  std::vector<std::string> kinds;
  for (const Active& active : active_) kinds.push_back(lines_[active.line].kind);
  return kinds;
}

std::vector<std::string> FaultLoop::UnsettledKinds() const {
  std::vector<std::string> kinds;
  for (const FaultLine& line : lines_) {
    if (line.error.empty() && !line.settled_ms) kinds.push_back(line.kind);
  }
  return kinds;
}

Result<bool> FaultLoop::HasRoom(const std::string& kind) {
  if (options_.intensity == 1) return active_.empty();
  const std::vector<std::string> unsettled = UnsettledKinds();
  const bool alone = since_rest_ >= options_.faults_between_rests ||
                     (hooks_.may_overlap && !hooks_.may_overlap(ActiveKinds(), unsettled, kind));
  if (!alone) return active_.size() < options_.intensity;
  if (!active_.empty()) return false;  // each ends by itself
  RATCHET_TRY(AwaitSettled());
  return true;
}

Status FaultLoop::InjectOne(const PlannedFault& planned) {
  RATCHET_ASSIGN(auto fault, hooks_.make(planned.kind));
  FaultLine line;
  line.kind = planned.kind;
  RATCHET_ASSIGN(line.traffic_before, AwaitTraffic());
  if (hooks_.stop()) return Ok();
  hooks_.before(line);
  line.injected_ms = hooks_.wall_ms();
  auto injected = TryInject(*fault, planned.seed);
  unsettled_ = true;  // also after a failure: it may have begun
  ++since_rest_;
  if (!injected.ok()) {
    line.error = injected.error().ToString();
    IgnoreResult(fault->Heal(target_), "after a failed Inject nothing is broken; this makes sure");
    line.healed_ms = hooks_.wall_ms();
    lines_.push_back(line);
    hooks_.injected(lines_.back());
    return Ok();
  }
  line.kind = injected->kind.empty() ? planned.kind : injected->kind;
  line.victims = std::move(injected->victims);
  line.evidence = std::move(injected->evidence);
  line.kills_master = injected->kills_master;
  line.unfinished_pid = injected->unfinished_pid;
  if (!injected->phase.empty()) line.met = {{injected->second, injected->phase}};
  if (injected->injected != TimePoint{}) {
    line.injected_ms = hooks_.wall_ms() - std::chrono::duration_cast<Millis>(Now() - injected->injected).count();
  }
  lines_.push_back(line);
  hooks_.injected(lines_.back());
  Prng prng(planned.seed + 1);
  const auto duration = fault->Duration(prng);
  active_.push_back({std::move(fault), lines_.size() - 1, Now() + duration.value_or(Millis(0))});
  return Ok();
}

Result<FaultRecord> FaultLoop::TryInject(Fault& fault, std::uint64_t seed) {
  const TimePoint until = Now() + options_.inject_patience;
  Status healed = Ok();
  for (int round = 0;; ++round) {
    Prng prng(seed);
    target_.SetMeanwhile([&] {
      if (healed.ok()) healed = HealDue();
      NoteSettled();
      hooks_.tick();
    });
    auto injected = fault.Inject(target_, prng);
    target_.SetMeanwhile({});
    RATCHET_TRY(healed);
    if (injected.ok()) return injected;
    const Code code = injected.error().code();
    const bool hopeless = code == Code::kInvalidArgument || code == Code::kUnsupported;
    if (hopeless || Now() >= until || hooks_.stop()) return injected;
    RATCHET_TRY(HealDue());
    Tick(round);
  }
}

Result<double> FaultLoop::AwaitTraffic() {
  const TimePoint until = Now() + options_.traffic_patience;
  for (int round = 0;; ++round) {
    RATCHET_TRY(HealDue());  // active faults may prevent traffic
    const double traffic = hooks_.traffic();
    if (traffic >= options_.traffic_floor || Now() >= until || hooks_.stop()) return traffic;
    Tick(round);
  }
}

Status FaultLoop::HealDue() {
  for (;;) {
    const auto due = std::find_if(active_.begin(), active_.end(),
                                  [&](const Active& active) { return active.heal_at <= Now() || hooks_.stop(); });
    if (due == active_.end()) return Ok();
    std::iter_swap(active_.begin(), due);
    RATCHET_TRY(HealFirst());
  }
}

Status FaultLoop::HealAll() {
  Status first = Ok();
  while (!active_.empty()) {
    const Status healed = HealFirst();
    if (first.ok() && !healed.ok()) first = healed;
  }
  return first;
}

Status FaultLoop::HealFirst() {
  Active healing = std::move(active_.front());
  active_.erase(active_.begin());
  FaultLine& line = lines_[healing.line];
  const Status healed = healing.fault->Heal(target_);
  if (!healed.ok()) return healed.error().Annotate(fmt::format("healing {}", line.kind));
  line.healed_ms = hooks_.wall_ms();
  hooks_.healed(line);
  return Ok();
}

Status FaultLoop::AwaitSettled() {
  since_rest_ = 0;
  if (!unsettled_) return Ok();
  const Status serving = target_.AwaitRecovered(options_.settle_bound);
  if (!serving.ok()) {
    return serving.error().Annotate(fmt::format(
        "not recovered within {} ms after {}", options_.settle_bound.count(),
        lines_.empty() ? "the start"
                       : fmt::format("{} of {}", lines_.back().kind, fmt::join(lines_.back().victims, ", "))));
  }
  unsettled_ = false;
  for (auto& line : lines_) {
    if (line.error.empty() && !line.settled_ms) line.settled_ms = hooks_.wall_ms();
  }
  hooks_.settled(lines_);
  return Ok();
}

bool FaultLoop::IsActive(std::size_t line) const {
  return std::any_of(active_.begin(), active_.end(), [&](const Active& active) { return active.line == line; });
}

void FaultLoop::NoteSettled() {
  constexpr Millis kBetweenLooks{200};
  if (!unsettled_ || Now() < look_again_at_) return;
  look_again_at_ = Now() + kBetweenLooks;
  const auto waits = [&](std::size_t i) { return lines_[i].error.empty() && !lines_[i].settled_ms && !IsActive(i); };
  bool any = false;
  for (std::size_t i = 0; i < lines_.size(); ++i) any = any || waits(i);
  if (!any || !target_.CheckRecovered().ok()) return;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (waits(i)) lines_[i].settled_ms = hooks_.wall_ms();
  }
  hooks_.settled(lines_);
}

void FaultLoop::Tick(int round) {
  hooks_.tick();
  PollPause(round);
}

}  // namespace ratchet::chaos
