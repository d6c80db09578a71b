// A lock for a client outside: held by a procedure of its own while its holder sends heartbeats (HBase's LockService).
//
// Heartbeats are not stored: after a failover the holder has one full time-out to find the new master, which has
// restored the lock. A release is stored before it is answered.
#pragma once

#include <string>
#include <vector>

#include "procedure/api/record.pb.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::procedure {

class Executor;

class LockProcedure final : public StateMachineProcedure<LockProcedure, pb::LockProcedureData> {
 public:
  static constexpr std::string_view kTypeName = "LockProcedure";
  static constexpr auto Steps() {
    return std::array{On<&LockProcedure::Hold>(1, "HOLD", kNothingToUndo, Given("the locks are granted"))};
  }

  using StateMachineProcedure::StateMachineProcedure;
  // `timeout`: the lock is released when no heartbeat has come for this long.
  static ProcedurePtr Make(const std::vector<LockRequest>& locks, std::string description, Millis timeout);

  [[nodiscard]] LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] Description Describe() const override;

 private:
  StepOutcome Hold(StepContext& ctx);
};

// The holder is alive. Returns true if the lock is held, false if it is still queued or permanently gone. `timeout`: of
// the lock, 0 when it is unknown or gone.
struct LockBeat {
  bool held = false;
  Millis timeout{0};
};
[[nodiscard]] LockBeat BeatLock(Executor& executor, ProcId pid);
// Releases the lock; `done` is called when that is durable. Releasing a lock that is gone is not an error.
void ReleaseLock(Executor& executor, ProcId pid, std::function<void(Status)> done);

}  // namespace ratchet::procedure
