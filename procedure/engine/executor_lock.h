// The state that the executor's parts share, reachable only while its lock is held, and the effects that leave it.
//
// An ExecutorLock holds the one lock. A part leaves work that must run outside it (commits, callbacks, waking workers)
// in the object. Finish does that work after it has released the lock, commits first and in order. So no foreign code
// ever runs under the lock, and "persist, then publish, then act" has one place. Procedures that are free go into the
// ready list, which Finish drains once before it releases the lock: no part calls another one to continue. Views take
// an ExecutorReadLock, which changes nothing and leaves no work.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/adaptive_mutex.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/part_lock.h"
#include "common/base/prng.h"
#include "common/base/result.h"
#include "common/base/unique_function.h"
#include "procedure/api/activity_stream.h"
#include "procedure/api/executor_options.h"
#include "procedure/api/pause_scope.h"
#include "procedure/api/procedure_listener.h"
#include "procedure/api/store.h"
#include "procedure/api/views.h"
#include "procedure/core/lists.h"
#include "procedure/core/lock_manager.h"
#include "procedure/core/node.h"
#include "procedure/core/nonce_table.h"
#include "procedure/core/record.h"
#include "procedure/core/scheduler.h"
#include "procedure/core/type_metrics.h"
#include "procedure/core/wait_table.h"
#include "procedure/engine/hold_meter.h"

namespace ratchet::procedure {

using PauseDone = std::function<void(Result<PauseReport>)>;

// A request to pause or resume, queued behind the one whose record is being written, S12 (system record with its lock:
// one writer per key).
struct PauseChange {
  bool resume = false;
  PauseScope scope;
  OperatorNote note;
  Millis patience{0};  // for a pause: how long to wait for steps in flight
  PauseDone done;
};

// An operator waits until no step of what is paused runs.
struct PauseBarrier {
  std::unordered_set<ProcId> running;
  Timers::Handle timer = 0;
  std::function<void(PauseReport)> answer;
  PauseScope scope;
};

// The pauses, and the operators that wait for steps in flight to end. Pure data; pause.h works on it under the
// executor's lock.
struct PauseBoard {
  std::vector<PauseInfo> active;
  std::vector<PauseLogEntry> log;  // as stored
  std::deque<PauseChange> line;
  bool writing = false;  // the record of the first change in the queue is being stored
  std::vector<std::shared_ptr<PauseBarrier>> barriers;
};

class Core;
class ExecutorLock;

// The step or undo whose outcome is committed: its name is the detail of the fault points around the commit.
struct CommitPoint {
  StepNo step = 0;  // 0: none; no fault point is hit
  bool undo = false;
};

// One commit on its way from a lock holder to the store and back: the batch to store, and what to do once it is
// durable.
//
// A thread that fills a task in under the lock does not touch it afterwards. The committed data does not change before
// it is published, so the records are encoded after the lock is released.
struct CommitTask {
  // Makes the task empty again, but keeps its memory.
  void Reset() {
    batch = StoreBatch();
    point = CommitPoint();
    node = nullptr;
    if (KindOf(next_action) != NextActionKind::kRun) next_action = ToRun{};
    nodes.clear();
    system_puts.clear();
    system_deletes.clear();
    before.clear();
    published = nullptr;
  }

  StoreBatch batch;
  CommitPoint point;
  ProcNode* node = nullptr;                      // whose next state it is: stored before everything else
  Durable next;                                  // after ShowStored: the state before
  NextAction next_action;                        // for a step: the node's next action once the commit is shown
  std::vector<std::unique_ptr<ProcNode>> nodes;  // new nodes, not in the tree yet: stored after the batch's own records
  std::vector<SystemPut> system_puts;            // the batch's vector, kept to reuse its memory
  std::vector<std::string> system_deletes;
  // Earlier outcomes of the same commit, oldest first, each published before this one (run_on.h). The record of a
  // procedure is stored once, as after the last of them.
  std::vector<std::unique_ptr<CommitTask>> before;
  // Called under a lock of its own.
  UniqueFunction<void(ExecutorLock&, CommitTask&)> published;
  std::shared_ptr<Core> core;  // set while the store has the task
};

// A step that runs before what leads to it is durable (run_on.h).
struct RunOn {
  ProcNode* node = nullptr;
  Durable base;                   // the state from which it runs: durable, or that of the last of `done`
  bool passes_no_return = false;  // `base` is the first state behind the tree's point of no return
  bool has_undo = false;          // an outcome of a step with an undo is among `done`
  bool same_step = false;         // the step had begun before; a report was folded into its procedure
  std::vector<std::unique_ptr<CommitTask>> done;  // what is not stored yet, oldest first
};

// A reader of the activity stream that waits for the next entry (activity.h).
struct ActivityWatch {
  std::uint64_t after = 0;
  std::size_t limit = 0;
  Timers::Handle timer = 0;
  std::function<void(ActivityBatch)> done;
};

// One call of a hook or a listener about a procedure of `type`.
struct Notification {
  std::string type;
  UniqueFunction<void()> call;
};

// All state that changes. Reachable only through an ExecutorLock or an ExecutorReadLock.
struct CoreState {
  explicit CoreState(const ExecutorOptions& options)
      : scheduler(options.run_limits), prng(options.seed), events(options.activity_capacity) {
    locks.Watch(&moved_waiters);
  }

  Scheduler scheduler;
  LockManager locks;
  ProcedureTree tree;
  WaitTable waits;
  NonceTable nonces;
  PauseBoard pauses;
  TypeMetricsTable metrics;
  Prng prng;
  ActivityStream events;
  std::vector<std::shared_ptr<ActivityWatch>> activity_watches;
  bool gathering_activity = false;
  std::map<std::string, std::string> system_records;
  std::vector<std::string> load_problems;
  // Finished roots by the time of their end, for eviction.
  struct Completed {
    TimePoint finished{};
    std::optional<TimePoint> acked;
  };
  std::map<ProcId, Completed> completed;
  ProcId max_pid;
  std::vector<ProcId> moved_waiters;  // procedures whose wait for a lock has changed and was not checked yet
                                      // (advance.h)
  // No unfinished procedure has a lower pid, whether it is in the tree or still being stored. Only ever raised.
  ProcId lowest_live{1};
  // Pids that were loaded, sorted; between the last of them and the first new one a million numbers may be unused, S117
  // (pid limit).
  std::vector<ProcId> loaded_pids;
  ProcId first_new_pid{1};
  std::set<ProcId> inserting;       // roots that are being stored
  std::size_t lock_inheritors = 0;  // procedures that keep locks of succeeded children, S16 (parent keeps child locks)
  Epoch epoch;
  bool recovered = false;
  bool started = false;
  bool stopping = false;
  bool halted = false;  // the store failed: no commit is completed from then on
  // Tasks that were never published because the store failed; their locks are not released.
  std::vector<std::unique_ptr<CommitTask>> unpublished;
  // Published tasks, kept for their memory: workers allocate them, and the store's thread would free them.
  std::vector<std::unique_ptr<CommitTask>> spare_tasks;
  std::uint64_t commits_in_flight = 0;
  ReadyList ready;                 // free procedures that continue before the lock is released
  ReadyList ready_undo;            // roots of trees whose rollback continues
  std::vector<ProcNode*> running;  // procedures in whose step or undo a worker is
  std::vector<ProcNode*> staying;  // procedures whose step or undo is in progress without a worker
  // Procedures whose own work is done, and whose step or undo continues with the next worker; urgent ones apart.
  std::deque<ProcNode*> resumed;
  std::deque<ProcNode*> resumed_urgent;
  // Procedures into which a report was folded, and whose step continues with the next worker; one entry a procedure.
  std::deque<std::unique_ptr<RunOn>> run_on;
  std::vector<std::shared_ptr<RegisteredListener>> listeners;
  std::vector<Notification> notifications;  // not delivered yet
  bool delivering = false;                  // a thread delivers notifications, and continues until there are none
};

class Core : public std::enable_shared_from_this<Core> {
 public:
  // `drain` decides what each procedure that is ready does next (advance.h).
  Core(ExecutorDeps dependencies, ExecutorOptions opts, void (*drain)(ExecutorLock&))
      : deps(dependencies), options(std::move(opts)), drain_(drain), state_(options), meter_(options.measure_lock) {}

  const ExecutorDeps deps;
  const ExecutorOptions options;
  [[nodiscard]] const HoldMeter& meter() const { return meter_; }

 private:
  void Enter() ACQUIRE(mutex_) {
    mutex_.Lock();
    meter_.Entered();
  }
  void Leave() RELEASE(mutex_) {
    meter_.Leaves();
    mutex_.Unlock();
  }

  friend class HeldState;
  friend class ExecutorReadLock;
  friend class ExecutorLock;
  void (*const drain_)(ExecutorLock&);
  AdaptiveMutex mutex_;
  CoreState state_ GUARDED_BY(mutex_);
  HoldMeter meter_;
  // Commits that are durable and not published yet, from the group that the store is completing. Used only by its
  // continuations, which run one at a time.
  std::vector<std::unique_ptr<CommitTask>> landed_;
  bool groups_ = false;  // the store reports the end of each group; constant after the claim
  // Number of former lock holders whose calls are running: raised under the lock.
  std::atomic<std::uint64_t> calling_{0};
  std::atomic<bool> stop_waits_{false};
  // Stop waits here for the last commits and calls; taken after mutex_.
  Mutex quiet_mutex_;
  CondVar quiet_;
};

// Read access to the state, for a part that is handed either kind of lock. The lock is held because the object exists;
// state() declares that to the thread-safety analysis.
class HeldState {
 public:
  HeldState(const HeldState&) = delete;
  HeldState& operator=(const HeldState&) = delete;

  const CoreState* operator->() const { return &state(); }
  const CoreState& state() const {
    AssertHeld();
    return core_.state_;
  }
  const Core& core() const { return core_; }
  const ExecutorOptions& options() const { return core_.options; }
  // True if a further worker would find something to run, unless limits forbid it.
  [[nodiscard]] bool work_waits() const {
    const CoreState& now = state();
    return now.scheduler.has_ready() || !now.run_on.empty() || !now.resumed.empty() || !now.resumed_urgent.empty();
  }

 protected:
  explicit HeldState(Core& core) : core_(core) {}
  ~HeldState() = default;
  void AssertHeld() const ASSERT_CAPABILITY(core_.mutex_) {}

  Core& core_;
};

// The lock of a view. No procedure is ready while the lock is free, so a view has nothing to drain and nothing to send.
class SCOPED_CAPABILITY ExecutorReadLock final : public HeldState {
 public:
  explicit ExecutorReadLock(Core& core) ACQUIRE(core.mutex_) : HeldState(core) {
    ExpectNoPartLock("the executor");
    core_.Enter();
  }
  ~ExecutorReadLock() RELEASE() { core_.Leave(); }
};

// For the thread-safety analysis an ExecutorLock is the lock: a function that opens a second one, or that touches the
// state without one, does not compile.
class SCOPED_CAPABILITY ExecutorLock final : public HeldState {
 public:
  explicit ExecutorLock(Core& core) ACQUIRE(core.mutex_) : HeldState(core) {
    ExpectNoPartLock("the executor");
    core_.Enter();
  }
  // Checks that Finish was called.
  ~ExecutorLock() RELEASE() {
    if (!finished_) [[unlikely]]
      FinishUnwinding();
  }

  // Every ready procedure continues. Then the lock is released, and what was left for after it is done: commits are
  // sent, workers woken, callbacks called. The last call on this object. Inlined always: most locks leave nothing to
  // do.
  [[gnu::always_inline]] void Finish() noexcept RELEASE() NO_THREAD_SAFETY_ANALYSIS {
    Drain();
    finished_ = true;
    if (first_commit_ == nullptr && calls_.empty() && !notify_ && !notify_urgent_ && !notifies_) {
      core_.Leave();
    } else {
      LeaveAndSend();
    }
  }

  CoreState* operator->() { return &state(); }
  CoreState& state() {
    AssertHeld();
    return core_.state_;
  }
  Core& core() { return core_; }
  // The wall clock, read once per lock.
  std::int64_t now_ms() {
    if (!now_ms_) now_ms_ = core_.deps.clock.WallMillis();
    return *now_ms_;
  }

  // The node, which is not busy, becomes free and continues before this lock is released; it is out of the run queue
  // until then.
  void Ready(ProcNode& node);
  // The rollback of the root's tree continues, as far as possible, once every ready procedure has continued.
  void ReadyUndo(ProcNode& root) { state().ready_undo.Add(root.tree.ready); }
  // Every ready procedure continues. Finish calls Drain; earlier calls are only for code that needs the outcome, such
  // as a worker that looks for its next step.
  void Drain() {
    const CoreState& now = state();
    if (!now.ready.empty() || !now.ready_undo.empty() || !now.moved_waiters.empty()) core_.drain_(*this);
  }
  [[nodiscard]] ProcNode* PopReady() { return static_cast<ProcNode*>(state().ready.Take()); }
  [[nodiscard]] ProcNode* PopReadyUndo() { return static_cast<ProcNode*>(state().ready_undo.Take()); }

  [[nodiscard]] std::unique_ptr<CommitTask> NewTask();
  // Returns the task to the spare ones.
  void Recycle(std::unique_ptr<CommitTask> task);
  // Its `published` runs under the lock once everything in it is durable.
  void Commit(std::unique_ptr<CommitTask> task);
  template <class Published>
  void Commit(StoreBatch batch, CommitPoint point, Published published) {
    auto task = NewTask();
    task->batch = std::move(batch);
    task->point = point;
    task->published = [call = std::move(published)](ExecutorLock& held, CommitTask& /*task*/) mutable { call(held); };
    Commit(std::move(task));
  }
  // Runs `call` after the lock is released.
  void Later(UniqueFunction<void()> call) { calls_.push_back(std::move(call)); }
  // Queues a call of a hook or listener. The calls run one at a time and in the order in which they were queued, across
  // all locks.
  void Notify(const std::string& type, UniqueFunction<void()> call) {
    state().notifications.push_back({type, std::move(call)});
    notifies_ = true;
  }
  // True inside a callback deferred by an ExecutorLock of `core`.
  [[nodiscard]] static bool InCallOf(const Core& core);
  // One call is enough for any number of procedures: each worker that wakes wakes the next, while there is work.
  void NotifyWorkers(bool urgent) { (urgent ? notify_urgent_ : notify_) = true; }
  // Called before the store is claimed: from then on commits that become durable together are published together.
  static void FollowGroups(const std::shared_ptr<Core>& core);
  // Waits until `done()` holds; releases the lock meanwhile. Only with an empty outbox.
  void WaitUntil(const std::function<bool()>& done);
  // True if no calls are running except those that this thread is in.
  [[nodiscard]] bool CallsAreOver();
  // The store has failed: no commit is completed from then on.
  void Halt(const Error& why);

 private:
  static void Send(Core& core, std::unique_ptr<CommitTask> task);
  static void Landed(std::unique_ptr<CommitTask> task);
  static void PublishAlone(std::unique_ptr<CommitTask> task);
  static void Publish(Core& core, std::vector<std::unique_ptr<CommitTask>> tasks);
  void PublishTask(CommitTask& task);
  static void Failed(std::unique_ptr<CommitTask> task, const Error& why);
  void CountCompleted(std::size_t commits);
  void LeaveAndSend() RELEASE(core_.mutex_);
  void FinishUnwinding() noexcept NO_THREAD_SAFETY_ANALYSIS;
  [[nodiscard]] std::vector<Notification> DrainNotifications();
  static void Deliver(Core& core, std::vector<Notification> notifications);

  std::unique_ptr<CommitTask> first_commit_;  // most have at most one
  std::vector<std::unique_ptr<CommitTask>> more_commits_;
  std::vector<UniqueFunction<void()>> calls_;
  std::optional<std::int64_t> now_ms_;
  bool notify_ = false;
  bool notify_urgent_ = false;
  bool notifies_ = false;
  bool finished_ = false;
};

// Stores the next durable state of one procedure and shows it once it is durable. Enforces S11 (one commit per pid).

// Makes the node busy, and stores CommitTask::next and the task's batch. CommitTask::published begins with ShowStored.
void BeginStore(ProcNode& node, CommitTask& task, CommitPoint point);
// Prepares an outcome that is stored together with a later one; the node stays as it is.
void JoinStore(ProcNode& node, CommitTask& task, CommitPoint point);
// Applies the stored state: makes it the node's durable state, and updates the system records.
ProcNode& ShowStored(ExecutorLock& held, CommitTask& task);

// Makes the node busy, stores `next` (and `extra`), then shows it and calls `then`. `then` decides how the node
// continues: it calls ExecutorLock::Ready or makes the node busy again.
template <class Then>
void StoreThen(ExecutorLock& held, ProcNode& node, Durable next, StoreBatch extra, CommitPoint point, Then then) {
  auto task = held.NewTask();
  task->next = std::move(next);
  task->batch = std::move(extra);
  BeginStore(node, *task, point);
  task->published = [call = std::move(then)](ExecutorLock& inner, CommitTask& stored) mutable {
    ProcNode& shown = ShowStored(inner, stored);
    call(inner, shown);
  };
  held.Commit(std::move(task));
}

}  // namespace ratchet::procedure
