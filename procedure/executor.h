// Runs procedures: stores every step before it shows it, resumes after a crash, undoes what failed.
//
// Order of life: construct -> Recover(epoch already claimed by the store) -> the host re-attaches what it must
// (ForEach, FindUnfinished, Submit are allowed: nothing runs yet) -> Start -> Stop -> destroy. Every member is
// thread-safe after Recover; callbacks (`done`, listeners, hooks) run on worker, timer or store threads without any
// lock of the executor held, must be quick, and may call the executor's views and asynchronous members, never what
// waits: Submit refuses there. What a callback throws is logged and goes no further.
//
// The order that everything hangs on: persist, then publish, then act. One commit in flight per procedure (S11). When a
// durable write fails the executor halts for good: it completes nothing any more and calls Options::on_store_failure.
#pragma once

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
#include "procedure/author/event.h"
#include "procedure/author/procedure.h"
#include "procedure/pure/activity_stream.h"
#include "procedure/pure/pause_scope.h"
#include "procedure/record/inspect.h"
#include "procedure/session/executor_options.h"
#include "procedure/session/procedure_listener.h"
#include "procedure/session/requests.h"

namespace ratchet::procedure {

class Executor {
 public:
  using Deps = ExecutorDeps;
  using Options = ExecutorOptions;

  Executor(Deps deps, Options options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Claims the store (S7 to S9), loads, rebuilds the trees, restores locks, parks what cannot be run. Runs nothing.
  // Returns the epoch that now holds; kFenced when another owner was faster.
  [[nodiscard]] Result<Epoch> Recover();
  // The workers start.
  void Start();
  // Returns when no step runs and no callback is under way. Nothing is lost: the next Recover goes on.
  void Stop();

  // ---- requests ----
  // Blocks until the procedure is durable. kInvalidArgument when its initial data, parentage or locks are unsound;
  // kFailedPrecondition inside a callback, which may be what the commit waits for.
  [[nodiscard]] Result<ProcId> Submit(ProcedurePtr root, SubmitOptions options = {});
  // The same without blocking; `done` is called exactly once unless the process halts first.
  void SubmitAsync(ProcedurePtr root, SubmitOptions options, std::function<void(Result<ProcId>)> done);
  // The pid that was given to this nonce, if any (also of a finished procedure, until it is evicted).
  [[nodiscard]] std::optional<ProcId> FindNonce(Nonce nonce) const;

  // Folds a report into the procedure's data; `done` after the commit: the reporter may be answered only then.
  // kNotFound: no such unfinished procedure. kTaken wakes the procedure.
  void Deliver(ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done);
  // Wakes all that wait for `event`, and spoils tickets taken before.
  void Wake(const EventKey& event);
  // Cuts a Retry's delay or an Await of `pid` short; its step runs again now. False: it is not waiting.
  bool Kick(ProcId pid);

  // ---- an operator's verbs (operator_verbs.h); `done` after the commit, or with the reason of the refusal ----
  // Undoes the tree that `pid` belongs to; its end is visible through GetResult. kFailedPrecondition when its point of
  // no return is behind it, or is passed by the step that runs, or it has finished.
  void Abort(ProcId pid, OperatorNote note, std::function<void(Status)> done);
  void Bypass(ProcId pid, bool recursive, OperatorNote note, std::function<void(Status)> done);
  void Park(ProcId pid, OperatorNote note, std::function<void(Status)> done);
  void Unpark(ProcId pid, OperatorNote note, std::function<void(Status)> done);
  void Rerun(ProcId pid, StepNo step, OperatorNote note, std::function<void(Status)> done);

  // From the commit on no step and no undo of what `scope` covers begins (pause.h), in this and in every later master.
  // `done`: when none runs any more, or after `patience` with those that still do; kNotFound, kInvalidArgument: no such
  // thing.
  void Pause(PauseScope scope, OperatorNote note, Millis patience, std::function<void(Result<PauseReport>)> done);
  // Takes exactly this pause back; others may go on to cover the same procedures. kNotFound: there is none. Operator
  // and reason are stored with it (PauseLog).
  void Resume(PauseScope scope, OperatorNote note, std::function<void(Status)> done);

  [[nodiscard]] ProcedureResult GetResult(ProcId pid) const;
  // The client has the result: it may be forgotten soon.
  void Ack(ProcId pid);
  // Blocks until `pid` has finished; a status of kNotFound where it is unknown. Errors: as Submit; kFenced: the store
  // has failed, or Stop was called.
  [[nodiscard]] Result<ProcedureResult> Await(ProcId pid);
  // Calls `done` when `pid` has finished (at once when it has, or is unknown).
  void OnFinished(ProcId pid, std::function<void(ProcedureResult)> done);

  // ---- views ----
  [[nodiscard]] std::vector<ProcedureInfo> List() const;  // all that are in memory, by pid
  [[nodiscard]] ProcedureCounts Count(std::uint32_t stuck_attempts = UINT32_MAX) const;
  [[nodiscard]] WorkersInfo Workers() const;  // costs what runs at this moment, not what exists
  [[nodiscard]] std::optional<ProcedureInfo> Get(ProcId pid) const;
  // What a report for the procedure must be addressed to (Procedure::AwaitedAttempt, of what is on record). Errors:
  // kNotFound: no unfinished procedure has this pid; kUnsupported: this version cannot read it; kFailedPrecondition: it
  // asks nothing of others.
  [[nodiscard]] Result<std::uint32_t> AwaitedAttempt(ProcId pid) const;
  [[nodiscard]] std::vector<ProcedureInfo> Tree(ProcId pid) const;  // all of the tree that `pid` is in, parents first
  [[nodiscard]] std::vector<LockInfo> Locks() const;
  [[nodiscard]] std::vector<LimitInfo> Limits() const;  // only those that hold a procedure back
  [[nodiscard]] std::vector<PauseInfo> Pauses() const;
  [[nodiscard]] std::vector<PauseLogEntry> PauseLog()
      const;  // pauses and resumes with their operators, oldest first; durable
  [[nodiscard]] WaitForGraph WaitFor() const;
  [[nodiscard]] std::vector<StepHistoryEntry> History(ProcId pid) const;
  [[nodiscard]] std::vector<TypeMetrics> Metrics() const;
  // The activity stream (activity_stream.h): the oldest `limit` entries after number `after`, and how many between are
  // gone.
  [[nodiscard]] ActivityBatch Activities(std::uint64_t after, std::size_t limit) const;
  // The same for a reader that has seen all: `done` once something has come, or with nothing after `patience` or at
  // Stop.
  void WatchActivity(std::uint64_t after, std::size_t limit, Millis patience, std::function<void(ActivityBatch)> done);
  // The state of `pid` with this name or number, for Rerun. kNotFound, kInvalidArgument: no such procedure, no such
  // state.
  [[nodiscard]] Result<StepNo> FindStep(ProcId pid, std::string_view name_or_number) const;
  // Unfinished procedures of one type, by pid.
  [[nodiscard]] std::vector<ProcId> FindUnfinished(std::string_view type) const;
  // Calls `visit` for every unfinished procedure, parents before children. Only between Recover and Start, when no step
  // can change the objects under the caller's eyes.
  void ForEach(const std::function<void(const Procedure&, const ProcedureInfo&)>& visit) const;
  [[nodiscard]] std::map<std::string, std::string> SystemRecords()
      const;  // as loaded, plus what has been committed since
  [[nodiscard]] std::optional<std::string> SystemRecord(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> LoadProblems() const;  // what Recover found and parked, in words
  [[nodiscard]] Epoch epoch() const;
  // The lowest pid that has not finished (S19: region servers refuse server-wide orders below it); next pid when idle.
  [[nodiscard]] ProcId LowestLivePid() const;
  // No step running, no commit in flight and nothing runnable: for tests and for a clean stop.
  [[nodiscard]] bool Idle() const;

  // Before Recover.
  void AddListener(std::shared_ptr<ProcedureListener> listener);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ratchet::procedure
