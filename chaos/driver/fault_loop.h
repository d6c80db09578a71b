// Injects and heals by the schedule; between faults it sees to it that there is traffic to disturb.
//
// The driver's one thread. Whatever a fault broke is healed before Run returns, also after a failure or a stop.
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
  Millis duration{0};         // no fault is injected later; one under way is finished
  std::size_t intensity = 1;  // faults in effect at a time; with 1, each recovery is awaited before the next fault
  double traffic_floor = 0;   // operations a second that are awaited before a fault
  Millis traffic_patience{15'000};
  Millis inject_patience{10'000};  // a victim may be on its way (no active master right now)
  Millis settle_bound{60'000};     // for each recovery
};

struct FaultLoopHooks {
  std::function<Result<std::unique_ptr<Fault>>(const std::string& kind)> make;
  std::function<double()> traffic;         // answered operations in the last second
  std::function<std::int64_t()> wall_ms;   // of now
  std::function<void(FaultLine&)> before;  // about to inject: what is only known now (the epoch)
  std::function<void(const FaultLine&)> injected;
  std::function<void(const FaultLine&)> healed;
  std::function<void(std::vector<FaultLine>&)> settled;  // everything so far is recovered
  std::function<void()> tick;                            // often, between the others
  std::function<bool()> stop;                            // the user wants the chaos to end now
};

class FaultLoop {
 public:
  FaultLoop(Target& target, FaultLoopOptions options, FaultLoopHooks hooks);

  // An error: the cluster did not recover within the bound after a fault (which the text names), or could not be
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
  // Heals what is due by `until` (all when nothing is left to wait for).
  [[nodiscard]] Status HealDue();
  [[nodiscard]] Status HealAll();
  [[nodiscard]] Status HealFirst();
  [[nodiscard]] Status AwaitSettled();
  // With several faults at a time there is hardly a moment without one: what is healed and served again has settled,
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
  TimePoint look_again_at_;
};

}  // namespace ratchet::chaos
