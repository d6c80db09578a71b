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

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/env_ref.h"
#include "procedure/event.h"
#include "procedure/event_stream.h"
#include "procedure/inspect.h"
#include "procedure/pause_scope.h"
#include "procedure/procedure.h"
#include "procedure/procedure_registry.h"
#include "procedure/run_limits.h"
#include "procedure/worker_pool.h"

namespace ratchet::procedure {

class ProcedureStore;
class StepContext;

// A client's mark on a request, so that its repetition after a lost answer finds the same procedure. {0, 0} is none.
struct Nonce {
  std::uint64_t group = 0;
  std::uint64_t nonce = 0;
  [[nodiscard]] bool valid() const { return group != 0 || nonce != 0; }
  auto operator<=>(const Nonce&) const = default;
};

struct SubmitOptions {
  std::string owner;  // the user that asked; recorded and shown
  Nonce nonce;
  // Run once, after the nonce was reserved and before anything is stored; its error is the answer to this and to every
  // later submission of the same nonce (until it is evicted). Must not call the executor.
  std::function<Status()> pre_check;
};

// What is known of a procedure's end.
struct ProcedureResult {
  enum class Status : std::uint8_t { kNotFound, kRunning, kSuccess, kFailed } status = Status::kNotFound;
  std::string result;          // kSuccess
  std::optional<Error> error;  // kFailed
  std::int64_t submitted_ms = 0;
  std::int64_t finished_ms = 0;
  [[nodiscard]] bool finished() const { return status == Status::kSuccess || status == Status::kFailed; }
};

// Told about every procedure after the commit that made it true, one at a time and in that order. See the executor's
// comment.
class ProcedureListener {
 public:
  virtual ~ProcedureListener() = default;
  virtual void OnAdded(const ProcedureInfo& /*info*/) {}  // submitted, spawned or loaded
  virtual void OnFinished(const ProcedureInfo& /*info*/) {
  }  // final state reached; a member of an undone tree has one, too
};

class Executor {
 public:
  struct Deps {
    ProcedureStore& store;
    const ProcedureRegistry& registry;
    WorkerPool& workers;
    Clock& clock;
    Timers& timers;
    EnvRef env;
  };
  struct Options {
    std::uint64_t seed = 1;                                      // of jitter and of StepContext::prng
    std::string owner = "the host";                              // of what is submitted without an owner
    BackoffPolicy retry{Millis{100}, Millis{10'000}, 2.0, 0.1};  // Retry without a delay, and undo that failed
    std::uint32_t retry_attempts = 0;  // of one state, where Retry names no budget; 0: for ever. Undo always goes on
    std::size_t history_per_procedure = 16;  // newest entries kept, 0 to 1000
    std::size_t event_capacity = 4096;       // newest entries of the event stream; 0: none
    Millis acked_ttl{5 * 60 * 1000};         // a result stays this long after its acknowledgement
    Millis result_ttl{15 * 60 * 1000};       // and this long without one
    std::size_t max_results = 100'000;       // beyond, the oldest results go first; refused nonces likewise
    Millis evict_interval{30 * 1000};
    RunLimits run_limits;                   // steps of one table, server or peer at a time
    Millis stuck_check_interval{5 * 1000};  // of the monitor of stuck workers; 0: no monitor
    Millis stuck_threshold{10 * 1000};      // a step that runs longer counts as stuck
    Millis keep_alive{60 * 1000};           // idle life of a worker that the monitor added
    // Set: everything is paused from the load on, as by Pause (who and why are recorded), until somebody resumes it.
    std::optional<OperatorNote> start_paused;
    bool log_steps = true;  // one line per event of each procedure
    // The store could not write or is fenced: this process must stop acting as master. Called once.
    std::function<void(const Error&)> on_store_failure;
  };

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
  // Takes exactly this pause back; others may go on to cover the same procedures. kNotFound: there is none. Who and why
  // are stored with it (PauseLog).
  void Resume(PauseScope scope, OperatorNote note, std::function<void(Status)> done);

  [[nodiscard]] ProcedureResult GetResult(ProcId pid) const;
  // The client has the result: it may be forgotten soon.
  void Ack(ProcId pid);
  // Calls `done` when `pid` has finished (at once when it has, or is unknown).
  void OnFinished(ProcId pid, std::function<void(ProcedureResult)> done);

  // ---- views ----
  [[nodiscard]] std::vector<ProcedureInfo> List() const;  // all that are in memory, by pid
  [[nodiscard]] ProcedureCounts Count(std::uint32_t stuck_attempts = UINT32_MAX) const;
  [[nodiscard]] std::optional<ProcedureInfo> Get(ProcId pid) const;
  [[nodiscard]] std::vector<ProcedureInfo> Tree(ProcId pid) const;  // all of the tree that `pid` is in, parents first
  [[nodiscard]] std::vector<LockInfo> Locks() const;
  [[nodiscard]] std::vector<LimitInfo> Limits() const;  // only those that hold somebody back
  [[nodiscard]] std::vector<PauseInfo> Pauses() const;
  [[nodiscard]] std::vector<PauseLogEntry> PauseLog() const;  // who has paused and resumed what, oldest first; durable
  [[nodiscard]] WaitForGraph WaitFor() const;
  [[nodiscard]] std::vector<StepHistoryEntry> History(ProcId pid) const;
  [[nodiscard]] std::vector<TypeMetrics> Metrics() const;
  // The event stream (event_stream.h): the oldest `limit` entries after number `after`, and how many between are gone.
  [[nodiscard]] EventBatch Events(std::uint64_t after, std::size_t limit) const;
  // The same for a reader who has seen all: `done` once something has come, or with nothing after `patience` or at
  // Stop.
  void WatchEvents(std::uint64_t after, std::size_t limit, Millis patience, std::function<void(EventBatch)> done);
  // The state of `pid` with this name or number, for Rerun. kNotFound, kInvalidArgument: no such procedure, no such
  // state.
  [[nodiscard]] Result<StepNo> FindStep(ProcId pid, std::string_view name_or_number) const;
  // Unfinished procedures of one type, by pid.
  [[nodiscard]] std::vector<ProcId> FindUnfinished(std::string_view type) const;
  // Calls `visit` for every unfinished procedure, parents before children. Only between Recover and Start, when no step
  // can change the objects under the caller's eyes.
  void ForEach(const std::function<void(const Procedure&, const ProcedureInfo&)>& visit) const;
  [[nodiscard]] std::map<std::string, std::string> SystemRecords()
      const;                                                    // as loaded, plus what has been committed since
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
