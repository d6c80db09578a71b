// Injects and heals faults by the schedule; before each fault it waits for traffic to disturb.
//
// The driver's one thread. Every fault is healed before Run returns, also after a failure or a stop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "chaos/driver/schedule.h"
#include "chaos/faults/fault.h"
#include "chaos/faults/target.h"
#include "chaos/report/run_record.h"

namespace ratchet::chaos {

struct FaultLoopOptions {
  Millis duration{0};         // no fault is injected later; a fault in progress is completed
  std::size_t intensity = 1;  // simultaneous faults; with 1, each recovery is awaited before the next fault
  double traffic_floor = 0;   // operations per second required before a fault
  Millis traffic_patience{15'000};
  Millis inject_patience{10'000};  // a victim may be on its way (no active master right now)
  Millis settle_bound{60'000};     // for each recovery
  // With several faults at a time: after this number of faults the driver heals everything, and waits for a complete
  // recovery.
  std::size_t faults_between_rests = 8;
};

struct FaultLoopHooks {
  std::function<Result<std::unique_ptr<Fault>>(const std::string& kind)> make;
  std::function<double()> traffic;         // operations answered in the last second
  std::function<std::int64_t()> wall_ms;   // current time
  std::function<void(FaultLine&)> before;  // called before an injection, to record the current state (the epoch)
  std::function<void(const FaultLine&)> injected;
  std::function<void(const FaultLine&)> healed;
  std::function<void(std::vector<FaultLine>&)> settled;  // everything so far is recovered
  std::function<void()> tick;                            // often, between the others
  std::function<bool()> stop;                            // the user wants the chaos to end now
  // Returns true when a fault of `kind` may begin while those of `others` are in effect. `unsettled` are the kinds
  // whose recovery is not over, `others` included. Empty: every fault may begin.
  std::function<bool(const std::vector<std::string>& others, const std::vector<std::string>& unsettled,
                     const std::string& kind)>
      may_overlap;
};

class FaultLoop {
 public:
  FaultLoop(Target& target, FaultLoopOptions options, FaultLoopHooks hooks);

  // Returns an error if the cluster did not recover within the limit after a fault (named in the text), or could not be
  // healed.
  [[nodiscard]] Status Run(const std::vector<PlannedFault>& schedule);
  [[nodiscard]] const std::vector<FaultLine>& lines() const { return lines_; }
  [[nodiscard]] std::vector<FaultLine>& lines() { return lines_; }

 private:
  struct Active {
    std::unique_ptr<Fault> fault;
    std::size_t line = 0;
    TimePoint heal_at;
  };

  [[nodiscard]] TimePoint Now() const { return clock_.Now(); }
  [[nodiscard]] Status RunFaults(const std::vector<PlannedFault>& schedule);
  [[nodiscard]] Status InjectOne(const PlannedFault& planned);
  [[nodiscard]] Result<FaultRecord> TryInject(Fault& fault, std::uint64_t seed);
  [[nodiscard]] Result<double> AwaitTraffic();
  // Heals the faults that are due (all of them when no wait is left).
  [[nodiscard]] Status HealDue();
  [[nodiscard]] Status HealAll();
  [[nodiscard]] Status HealFirst();
  [[nodiscard]] Status AwaitSettled();
  // Returns true if nothing else is in effect, or `kind` goes together with all that is. Heals, and waits for a
  // recovery, where it must be alone or a rest is due.
  [[nodiscard]] Result<bool> HasRoom(const std::string& kind);
  [[nodiscard]] std::vector<std::string> ActiveKinds() const;
  [[nodiscard]] std::vector<std::string> UnsettledKinds() const;
  // Several faults overlap almost always. A fault counts as settled when its effects are healed and served again,
  // whatever else is broken.
  void NoteSettled();
  void Tick(int round);
  [[nodiscard]] bool IsActive(std::size_t line) const;

  Target& target_;
  const FaultLoopOptions options_;
  const FaultLoopHooks hooks_;
  const SystemClock clock_;
  std::vector<FaultLine> lines_;
  std::vector<Active> active_;
  bool unsettled_ = false;
  std::size_t since_rest_ = 0;  // faults that were injected since the last whole recovery
  TimePoint look_again_at_;
};

}  // namespace ratchet::chaos
