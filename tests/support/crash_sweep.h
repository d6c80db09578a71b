// The standard test of a procedure: kill its master before and after every commit, also while it recovers and while it
// undoes, run every step twice, and come to the same end.
//
// The subject brings its types, its outside world (which survives the master, e.g. doubles of servers and files), what
// to submit, and how its world answers. The sweep brings masters that die, one after another, on one "disk".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "procedure/api/executor.h"
#include "tests/support/crash_store.h"
#include "tests/support/manual_time.h"

namespace ratchet::testing {

// One life of a master: an executor in single-threaded mode on a disk that survives it.
class MasterLife {
 public:
  MasterLife(StoredState& disk, CrashPlan plan, const procedure::ProcedureRegistry& registry, procedure::EnvRef env,
             ManualTime& time, procedure::Executor::Options options = DefaultOptions());
  ~MasterLife();

  // Recover and Start. False when it has died doing so.
  bool Begin();
  // Until nothing is runnable or it is dead.
  void RunUntilIdle();
  // The next timer.
  bool RunNextTimer() { return time_.RunNext(); }
  [[nodiscard]] bool dead() const { return store_.dead(); }
  // Every procedure has finished.
  [[nodiscard]] bool AllFinished() const;

  procedure::Executor& executor() { return *executor_; }
  procedure::ManualWorkers& workers() { return workers_; }
  CrashStore& store() { return store_; }
  ManualTime& time() { return time_; }

  // Options without monitor, eviction and log lines, so that only the subject acts during a life.
  static procedure::Executor::Options DefaultOptions();

 private:
  ManualTime& time_;
  CrashStore store_;
  procedure::ManualWorkers workers_;
  std::unique_ptr<procedure::Executor> executor_;
};

struct SweepSubject {
  std::function<void(procedure::ProcedureRegistry&)> register_types;
  // A fresh outside world; it outlives all masters of one run.
  std::function<std::shared_ptr<void>()> make_world;
  std::function<procedure::EnvRef(void* world)> env;
  // The client's request. Sent with the same nonce to every new master until a master has answered.
  std::function<procedure::ProcedurePtr(void* world)> make_root;
  // Called when the master is idle: lets the world act (answer orders through executor.Deliver, Wake, ...). Returns
  // true if something happened. May be empty; then only timers move things on.
  std::function<bool(void* world, MasterLife& life)> drive;
  // Called after a master has died, before the next one begins: what the world forgets with it. May be empty.
  std::function<void(void* world)> on_crash;
  // What is left when all has come to rest, in words; must be the same in every run.
  std::function<std::string(void* world)> fingerprint;
};

struct SweepReport {
  std::uint64_t runs = 0;
  std::uint64_t crashes = 0;
  std::uint64_t commits = 0;          // of the run without a crash
  std::string undisturbed;            // its fingerprint and outcome
  std::vector<std::string> failures;  // "crash before commit 3: <difference>"; empty when all is well
};

// Runs the whole sweep. `max_lives`: of one run, against runs that never end.
[[nodiscard]] SweepReport RunCrashSweep(const SweepSubject& subject, std::size_t max_lives = 200);

}  // namespace ratchet::testing
