// What the executor's parts share: the pure state, reachable only while a Session is held, and the ways out of it.
//
// A Session holds the one lock. What a part wants done outside it (commits, callbacks, waking workers) it leaves in the
// session, which does it after letting go of the lock, commits first and in order. So no foreign code ever runs under
// the lock, and "persist, then publish, then act" has one place. Which procedures are to go on it leaves in the
// session's ready list, which is drained once before the lock is let go: no part calls another one to go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/adaptive_mutex.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "procedure/pure/activity_stream.h"
#include "procedure/pure/lock_manager.h"
#include "procedure/pure/nonce_table.h"
#include "procedure/pure/pause_board.h"
#include "procedure/pure/ready_list.h"
#include "procedure/pure/scheduler.h"
#include "procedure/pure/type_metrics.h"
#include "procedure/pure/wait_table.h"
#include "procedure/session/commit_task.h"
#include "procedure/session/executor_options.h"
#include "procedure/session/procedure_listener.h"
#include "procedure/session/procedure_tree.h"
#include "procedure/session/requests.h"
#include "procedure/store/procedure_store.h"

namespace ratchet::procedure {

class Session;

// A reader of the activity stream that waits for what comes next (activity_watch.h).
struct ActivityWatch {
  std::uint64_t after = 0;
  std::size_t limit = 0;
  Timers::Handle timer = 0;
  std::function<void(ActivityBatch)> done;
};

// What a hook or a listener is to be told of a procedure of `type`.
struct Notice {
  std::string type;
  UniqueFunction<void()> call;
};

// Everything that changes. Only through a Session.
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
  std::vector<ProcId> moved_waiters;  // whose wait for a lock has changed and was not looked at yet (deadlock.h)
  // No unfinished procedure has a lower pid, whether it is in the tree or still being stored. Only ever raised.
  ProcId lowest_live{1};
  std::set<ProcId> inserting;  // roots that are being stored
  std::size_t keepers = 0;     // procedures that keep locks of succeeded children (S16)
  Epoch epoch;
  bool recovered = false;
  bool started = false;
  bool stopping = false;
  bool halted = false;  // the store failed: nothing is completed any more
  // What never was published then; the locks that it has been given stay where they are.
  std::vector<std::unique_ptr<CommitTask>> unpublished;
  // Published, and kept for their memory: they come from workers and would be freed by the store's thread.
  std::vector<std::unique_ptr<CommitTask>> spare_tasks;
  std::uint64_t commits_in_flight = 0;
  ReadyList ready;                 // free procedures that go on before the session ends
  ReadyList ready_undo;            // roots of trees whose undoing does
  std::vector<ProcNode*> running;  // whose step or undo a worker is in
  std::vector<Notice> notices;     // not told yet
  bool telling = false;            // a thread is at it, and goes on until there are none
};

class Core : public std::enable_shared_from_this<Core> {
 public:
  // `drain` decides what each procedure that is ready does next (progress.h).
  Core(ExecutorDeps dependencies, ExecutorOptions opts, void (*drain)(Session&))
      : deps(dependencies), options(std::move(opts)), drain_(drain), state_(options) {}

  const ExecutorDeps deps;
  const ExecutorOptions options;
  std::vector<std::shared_ptr<ProcedureListener>> listeners;  // constant after Recover

 private:
  friend class Session;
  void (*const drain_)(Session&);
  AdaptiveMutex mutex_;
  CoreState state_ GUARDED_BY(mutex_);
  // Commits that are durable and not published yet: of the group that the store completes at this moment. Used by its
  // continuations only, which come one at a time.
  std::vector<std::unique_ptr<CommitTask>> landed_;
  bool groups_ = false;  // the store tells where one ends; constant after the claim
  // Sessions whose calls are under way: raised under the lock.
  std::atomic<std::uint64_t> calling_{0};
  std::atomic<bool> stop_waits_{false};
  // Stop waits here for the last commits and calls; taken after mutex_.
  Mutex quiet_mutex_;
  CondVar quiet_;
};

// To the analysis a Session is the lock: a function that opens a second one, or that touches the state without one,
// does not compile under it. A part that is handed a Session has the lock because the Session exists, which state()
// tells the analysis.
class SCOPED_CAPABILITY Session {
 public:
  explicit Session(Core& core) ACQUIRE(core.mutex_) : core_(core) { core_.mutex_.Lock(); }
  ~Session() RELEASE() {
    Drain();
    if (first_commit_ == nullptr && calls_.empty() && !notify_ && !notify_urgent_ && !tells_) {
      core_.mutex_.Unlock();
    } else {
      LeaveAndSend();
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  CoreState* operator->() { return &state(); }
  CoreState& state() {
    AssertHeld();
    return core_.state_;
  }
  Core& core() { return core_; }
  const ExecutorOptions& options() const { return core_.options; }
  // The same for the whole of the session.
  std::int64_t now_ms() {
    if (!now_ms_) now_ms_ = core_.deps.clock.WallMillis();
    return *now_ms_;
  }

  // The node, which is not busy, is free and goes on before this session ends; out of the run queue until then.
  void Ready(ProcNode& node);
  // The undoing of the root's tree goes on, as far as it can, once every procedure that is ready has gone on.
  void ReadyUndo(ProcNode& root) { state().ready_undo.Add(root.tree.ready); }
  // Everything that is ready goes on. The end of a session does this; before it only what needs the outcome, as a
  // worker that looks for its next step.
  void Drain() {
    const CoreState& now = state();
    if (!now.ready.empty() || !now.ready_undo.empty() || !now.moved_waiters.empty()) core_.drain_(*this);
  }
  [[nodiscard]] ProcNode* TakeReady() { return static_cast<ProcNode*>(state().ready.Take()); }
  [[nodiscard]] ProcNode* TakeReadyUndo() { return static_cast<ProcNode*>(state().ready_undo.Take()); }

  [[nodiscard]] std::unique_ptr<CommitTask> NewTask();
  // Back to the spare ones.
  void Recycle(std::unique_ptr<CommitTask> task);
  // Its `published` runs under the lock once everything in it is durable.
  void Commit(std::unique_ptr<CommitTask> task);
  template <class Published>
  void Commit(StoreBatch batch, CommitPoint point, Published published) {
    auto task = NewTask();
    task->batch = std::move(batch);
    task->point = point;
    task->published = [call = std::move(published)](Session& session, CommitTask& /*task*/) mutable { call(session); };
    Commit(std::move(task));
  }
  // After the lock is gone.
  void Later(UniqueFunction<void()> call) { calls_.push_back(std::move(call)); }
  // The same for hooks and listeners, which hear one at a time and in the order of these calls, whichever sessions they
  // were in.
  void Tell(const std::string& type, UniqueFunction<void()> call) {
    state().notices.push_back({type, std::move(call)});
    tells_ = true;
  }
  // This thread is in a call that a session of `core` has left.
  [[nodiscard]] static bool InCallOf(const Core& core);
  // Once is enough for any number of procedures: each worker that wakes wakes the next, as far as there is work.
  void NotifyWorkers(bool urgent) { (urgent ? notify_urgent_ : notify_) = true; }
  // Before the store is claimed: from then on what becomes durable together is published together.
  static void FollowGroups(const std::shared_ptr<Core>& core);
  // Waits until `done()` holds; gives the lock up meanwhile. Only with an empty outbox.
  void WaitUntil(const std::function<bool()>& done);
  // No calls are under way but those that this thread is in.
  [[nodiscard]] bool CallsAreOver();
  // The store has failed: completes nothing any more.
  void Halt(const Error& why);

 private:
  static void Send(Core& core, std::unique_ptr<CommitTask> task);
  static void Landed(std::unique_ptr<CommitTask> task);
  static void PublishAlone(std::unique_ptr<CommitTask> task);
  static void Publish(Core& core, std::vector<std::unique_ptr<CommitTask>> tasks);
  static void Failed(std::unique_ptr<CommitTask> task, const Error& why);
  void CountCompleted(std::size_t commits);
  void AssertHeld() const ASSERT_CAPABILITY(core_.mutex_) {}
  void LeaveAndSend() RELEASE(core_.mutex_);
  [[nodiscard]] std::vector<Notice> TakeNotices();
  static void TellAll(Core& core, std::vector<Notice> notices);

  Core& core_;
  std::unique_ptr<CommitTask> first_commit_;  // most sessions have one at most
  std::vector<std::unique_ptr<CommitTask>> more_commits_;
  std::vector<UniqueFunction<void()>> calls_;
  std::optional<std::int64_t> now_ms_;
  bool notify_ = false;
  bool notify_urgent_ = false;
  bool tells_ = false;
};

}  // namespace ratchet::procedure
