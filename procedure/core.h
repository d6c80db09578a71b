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

#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "procedure/executor.h"
#include "procedure/lock_manager.h"
#include "procedure/nonce_table.h"
#include "procedure/procedure_tree.h"
#include "procedure/scheduler.h"
#include "procedure/store/procedure_store.h"
#include "procedure/type_metrics.h"
#include "procedure/wait_table.h"

namespace ratchet::procedure {

class Session;

// Everything that changes. Only through a Session.
struct CoreState {
  explicit CoreState(std::uint64_t seed) : prng(seed) {}

  ProcedureTree tree;
  LockManager locks;
  WaitTable waits;
  Scheduler scheduler;
  NonceTable nonces;
  TypeMetricsTable metrics;
  Prng prng;
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
  std::size_t keepers = 0;           // procedures that keep locks of succeeded children (S16)
  Epoch epoch;
  bool recovered = false;
  bool started = false;
  bool stopping = false;
  bool halted = false;               // the store failed: nothing is completed any more
  std::uint64_t commits_in_flight = 0;
  std::uint64_t steps_running = 0;
};

class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Executor::Deps dependencies, Executor::Options opts)
      : deps(dependencies), options(std::move(opts)), state_(options.seed) {}

  const Executor::Deps deps;
  const Executor::Options options;
  std::vector<std::shared_ptr<ProcedureListener>> listeners;  // constant after Recover

 private:
  friend class Session;
  Mutex mutex_;
  CondVar quiet_;  // commits or steps in flight became fewer
  CoreState state_;
};

class Session {
 public:
  explicit Session(Core& core);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  CoreState* operator->() { return &core_.state_; }
  CoreState& state() { return core_.state_; }
  Core& core() { return core_; }
  const Executor::Options& options() const { return core_.options; }
  std::int64_t now_ms() const { return core_.deps.clock.WallMillis(); }

  // `published` runs in a session of its own once the batch is durable. `fault_detail`: for the fault points around a step's
  // commit; empty for other commits.
  void Commit(StoreBatch batch, std::string fault_detail, std::function<void(Session&)> published);
  // After the lock is gone.
  void Later(std::function<void()> call) { calls_.push_back(std::move(call)); }
  void NotifyWorkers(bool urgent) { ++(urgent ? notify_urgent_ : notify_); }
  // Waits until `done()` holds; gives the lock up meanwhile. Only with an empty outbox.
  void WaitUntil(const std::function<bool()>& done);
  // The store has failed: completes nothing any more.
  void Halt(const Error& why);

 private:
  struct PendingCommit {
    StoreBatch batch;
    std::string fault_detail;
    std::function<void(Session&)> published;
  };
  static void Send(Core& core, PendingCommit commit);

  Core& core_;
  std::vector<PendingCommit> commits_;
  std::vector<std::function<void()>> calls_;
  std::uint32_t notify_ = 0;
  std::uint32_t notify_urgent_ = 0;
};

}  // namespace ratchet::procedure
