// Runs procedures: stores every step before it shows it, resumes after a crash, undoes what failed.
//
// Order of life: construct -> Recover(epoch already claimed by the store) -> the host re-attaches its own state
// (ForEach, FindUnfinished, Submit are allowed: nothing runs yet) -> Start -> Stop -> destroy. Every member is
// thread-safe after Recover. Callbacks (`done`, listeners, hooks) run on worker, timer or store threads without any
// lock of the executor held. They must be quick. They may call the executor's views and asynchronous members, never a
// member that waits: Submit refuses there. An exception from a callback is logged and otherwise ignored.
//
// The order that every rule depends on: persist, then publish, then act. One commit in flight per procedure, S11 (one
// commit per pid). When a durable write fails the executor halts permanently: it completes nothing and calls
// Options::on_store_failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/api/activity_stream.h"
#include "procedure/api/event.h"
#include "procedure/api/executor_options.h"
#include "procedure/api/pause_scope.h"
#include "procedure/api/procedure.h"
#include "procedure/api/procedure_listener.h"
#include "procedure/api/views.h"

namespace ratchet::procedure {

class Executor {
 public:
  using Deps = ExecutorDeps;
  using Options = ExecutorOptions;

  Executor(Deps deps, Options options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Claims the store (S7: seal before acting, to S9: claims are never removed), loads it, rebuilds the trees, restores
  // locks, parks what cannot be run. Runs nothing. Returns the epoch that is now in force; kFenced when another owner
  // was faster.
  [[nodiscard]] Result<Epoch> Recover();
  // Starts the workers.
  void Start();
  // Returns when no step and no callback runs. No work is lost: the next Recover continues.
  void Stop();

  // ---- requests ----
  // Blocks until the procedure is durable. kInvalidArgument when its initial data, parentage or locks are invalid;
  // kFailedPrecondition inside a callback, which the commit may wait for.
  [[nodiscard]] Result<ProcId> Submit(ProcedurePtr root, SubmitOptions options = {});
  // Submits without blocking; `done` is called exactly once unless the process halts first.
  void SubmitAsync(ProcedurePtr root, SubmitOptions options, std::function<void(Result<ProcId>)> done);
  // The pid that was assigned to this nonce, if any (also of a finished procedure, until it is evicted).
  [[nodiscard]] std::optional<ProcId> FindNonce(Nonce nonce) const;

  // Folds a report into the procedure's data; `done` is called after the commit: the reporter may be answered only
  // then. kNotFound: no such unfinished procedure. kTaken wakes the procedure.
  void Deliver(ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done);
  // Wakes all that wait for `event`, and invalidates tickets taken before.
  void Wake(const EventKey& event);
  // Cuts a Retry's delay or an Await of `pid` short; its step runs again now. Returns false if it is not waiting.
  bool Kick(ProcId pid);

  // ---- an operator's verbs (operator_verbs.h); `done` after the commit, or with the reason of the refusal ----
  // Undoes the tree that `pid` belongs to; GetResult shows its end. kFailedPrecondition when the tree is past its point
  // of no return, or the running step passes it, or the procedure has finished.
  void Abort(ProcId pid, OperatorNote note, std::function<void(Status)> done);
  void Bypass(ProcId pid, bool recursive, OperatorNote note, std::function<void(Status)> done);
  void Park(ProcId pid, OperatorNote note, std::function<void(Status)> done);
  void Unpark(ProcId pid, OperatorNote note, std::function<void(Status)> done);
  void Rerun(ProcId pid, StepNo step, OperatorNote note, std::function<void(Status)> done);

  // Once the pause is committed, no step and no undo of a procedure in `scope` begins (pause.h), in this and in every
  // later master. `done` is called when none of these procedures runs a step, or after `patience` with the procedures
  // that still run one. kNotFound, kInvalidArgument: the target does not exist or is invalid.
  void Pause(PauseScope scope, OperatorNote note, Millis patience, std::function<void(Result<PauseReport>)> done);
  // Removes exactly this pause; others may continue to cover the same procedures. kNotFound: there is no such pause.
  // Operator and reason are stored with it (PauseLog).
  void Resume(PauseScope scope, OperatorNote note, std::function<void(Status)> done);

  [[nodiscard]] ProcedureResult GetResult(ProcId pid) const;
  // The client has the result: it may be forgotten soon.
  void Ack(ProcId pid);
  // Blocks until `pid` has finished; returns the status kNotFound if it is unknown. Errors: as Submit; kFenced: the
  // store has failed, or Stop was called.
  [[nodiscard]] Result<ProcedureResult> Await(ProcId pid);
  // Calls `done` when `pid` has finished (at once if it has, or is unknown).
  void OnFinished(ProcId pid, std::function<void(ProcedureResult)> done);

  // ---- views ----
  [[nodiscard]] std::vector<ProcedureInfo> List() const;  // all procedures in memory, by pid
  [[nodiscard]] ProcedureCounts Count(std::uint32_t stuck_attempts = UINT32_MAX) const;
  [[nodiscard]] WorkersInfo Workers() const;  // costs as much as what runs now, not as what exists
  [[nodiscard]] std::optional<ProcedureInfo> Get(ProcId pid) const;
  // The attempt number that a report for the procedure must carry (Procedure::AwaitedAttempt of the committed data).
  // Errors: kNotFound: no unfinished procedure has this pid; kUnsupported: this version cannot read it;
  // kFailedPrecondition: it accepts no reports.
  [[nodiscard]] Result<std::uint32_t> AwaitedAttempt(ProcId pid) const;
  [[nodiscard]] std::vector<ProcedureInfo> Tree(ProcId pid) const;  // the whole tree of `pid`, parents first
  [[nodiscard]] std::vector<LockInfo> Locks() const;
  [[nodiscard]] std::vector<LimitInfo> Limits() const;  // only limits that hold a procedure back
  [[nodiscard]] std::vector<PauseInfo> Pauses() const;
  [[nodiscard]] std::vector<PauseLogEntry> PauseLog()
      const;  // pauses and resumes with their operators, oldest first; durable
  [[nodiscard]] WaitForGraph WaitFor() const;
  [[nodiscard]] std::vector<StepHistoryEntry> History(ProcId pid) const;
  [[nodiscard]] std::vector<TypeMetrics> Metrics() const;
  // The longest time for which the executor's lock was held since the start; nullopt without
  // ExecutorOptions::measure_lock.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> LongestHold() const;
  // The activity stream (activity_stream.h): the oldest `limit` entries after number `after`, and how many between are
  // gone.
  [[nodiscard]] ActivityBatch Activities(std::uint64_t after, std::size_t limit) const;
  // For a reader that has seen all entries: calls `done` once there is a new one, or with none after `patience` or at
  // Stop.
  void WatchActivity(std::uint64_t after, std::size_t limit, Millis patience, std::function<void(ActivityBatch)> done);
  // The state of `pid` with this name or number, for Rerun. kNotFound, kInvalidArgument: the procedure or the state
  // does not exist.
  [[nodiscard]] Result<StepNo> FindStep(ProcId pid, std::string_view name_or_number) const;
  // Unfinished procedures of one type, by pid.
  [[nodiscard]] std::vector<ProcId> FindUnfinished(std::string_view type) const;
  // Calls `visit` for every unfinished procedure, parents before children. Only between Recover and Start, when no step
  // can change the objects meanwhile.
  void ForEach(const std::function<void(const Procedure&, const ProcedureInfo&)>& visit) const;
  [[nodiscard]] std::map<std::string, std::string> SystemRecords() const;  // as loaded, plus later commits
  [[nodiscard]] std::optional<std::string> SystemRecord(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> LoadProblems() const;  // what Recover found and parked, as text
  [[nodiscard]] Epoch epoch() const;
  // The lowest pid that has not finished (region servers refuse server-wide orders below it, S19 (executed orders are
  // remembered)); next pid when idle.
  [[nodiscard]] ProcId LowestLivePid() const;
  // The largest pid that this store has ever given, or may have given (S117: pid limit); the next one is above it.
  [[nodiscard]] ProcId LargestPid() const;
  // True if no worker is in a step, no commit is in flight and nothing is runnable: for tests and for a clean stop.
  [[nodiscard]] bool Idle() const;

  // A listener that is added before Recover is also called for each procedure that is loaded.
  void AddListener(std::shared_ptr<ProcedureListener> listener);
  // No call of the listener begins after this one; a call that has begun on another thread may still run.
  void RemoveListener(const std::shared_ptr<ProcedureListener>& listener);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ratchet::procedure
