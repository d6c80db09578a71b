// What the executor's parts share: the pure state, reachable only while a Session is held, and the ways out of it.
//
// A Session holds the one lock. What a part wants done outside it (commits, callbacks, waking workers) it leaves in the
// session, which does it after letting go of the lock, commits first and in order. So no foreign code ever runs under the
// lock, and "persist, then publish, then act" has one place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/adaptive_mutex.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "procedure/commit_task.h"
#include "procedure/event_stream.h"
#include "procedure/executor.h"
#include "procedure/lock_manager.h"
#include "procedure/nonce_table.h"
#include "procedure/pause_board.h"
#include "procedure/procedure_tree.h"
#include "procedure/scheduler.h"
#include "procedure/store/procedure_store.h"
#include "procedure/type_metrics.h"
#include "procedure/wait_table.h"

namespace ratchet::procedure {

class Session;

// Everything that changes. Only through a Session.
struct CoreState {
  explicit CoreState(const Executor::Options& options)
      : scheduler(options.run_limits), prng(options.seed), events(options.event_capacity) {
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
  EventStream events;
  std::map<std::string, std::string> system_records;
  std::vector<std::string> load_problems;
  std::unordered_map<ProcId, std::vector<std::function<void(ProcedureResult)>>> finish_waiters;
  // Finished roots by the time of their end, for eviction.
  struct Completed {
    TimePoint finished{};
    std::optional<TimePoint> acked;
  };
  std::map<ProcId, Completed> completed;
  ProcId max_pid;
  std::vector<ProcId> moved_waiters;  // whose wait for a lock has changed and was not looked at yet (deadlock.h)
  // No unfinished procedure has a lower pid. Only ever raised: a root that was being stored when somebody looked may be lower, but
  // what it spawns is not.
  ProcId lowest_live{1};
  std::size_t keepers = 0;           // procedures that keep locks of succeeded children (S16)
  Epoch epoch;
  bool recovered = false;
  bool started = false;
  bool stopping = false;
  bool halted = false;               // the store failed: nothing is completed any more
  // What never was published then; the locks that it has been given stay where they are.
  std::vector<std::shared_ptr<CommitTask>> unpublished;
  std::uint64_t commits_in_flight = 0;
  std::vector<ProcNode*> running;    // whose step or undo a worker is in
};

class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Executor::Deps dependencies, Executor::Options opts)
      : deps(dependencies), options(std::move(opts)), state_(options) {}

  const Executor::Deps deps;
  const Executor::Options options;
  std::vector<std::shared_ptr<ProcedureListener>> listeners;  // constant after Recover

 private:
  friend class Session;
  AdaptiveMutex mutex_;
  CoreState state_;  // guarded by mutex_, which the analysis cannot follow through a Session
  // Stop waits here for the last commits; taken after mutex_.
  Mutex quiet_mutex_;
  CondVar quiet_;
};

class Session {
 public:
  // The analysis cannot follow a lock that lives as long as an object of a class with other members.
  explicit Session(Core& core) NO_THREAD_SAFETY_ANALYSIS : core_(core) { core_.mutex_.Lock(); }
  ~Session() NO_THREAD_SAFETY_ANALYSIS {
    if (first_commit_ == nullptr && calls_.empty() && notify_ == 0 && notify_urgent_ == 0) {
      core_.mutex_.Unlock();
    } else {
      LeaveAndSend();
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  CoreState* operator->() { return &core_.state_; }
  CoreState& state() { return core_.state_; }
  Core& core() { return core_; }
  const Executor::Options& options() const { return core_.options; }
  std::int64_t now_ms() const { return core_.deps.clock.WallMillis(); }

  // Its `published` runs in a session of its own once everything in it is durable.
  void Commit(std::shared_ptr<CommitTask> task);
  template <class Published>
  void Commit(StoreBatch batch, CommitPoint point, Published published) {
    auto task = std::make_shared<CommitTask>();
    task->batch = std::move(batch);
    task->point = point;
    task->published = [call = std::move(published)](Session& session, CommitTask& /*task*/) mutable { call(session); };
    Commit(std::move(task));
  }
  // After the lock is gone.
  void Later(std::function<void()> call) { calls_.push_back(std::move(call)); }
  void NotifyWorkers(bool urgent) { ++(urgent ? notify_urgent_ : notify_); }
  // Waits until `done()` holds; gives the lock up meanwhile. Only with an empty outbox.
  void WaitUntil(const std::function<bool()>& done);
  // The store has failed: completes nothing any more.
  void Halt(const Error& why);

 private:
  static void Send(Core& core, std::shared_ptr<CommitTask> task);
  static void Completed(std::shared_ptr<CommitTask> task, const Result<std::uint64_t>& sequence);
  void LeaveAndSend();

  Core& core_;
  std::shared_ptr<CommitTask> first_commit_;  // most sessions have one at most
  std::vector<std::shared_ptr<CommitTask>> more_commits_;
  std::vector<std::function<void()>> calls_;
  std::uint32_t notify_ = 0;
  std::uint32_t notify_urgent_ = 0;
};

}  // namespace ratchet::procedure
