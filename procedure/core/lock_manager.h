// Holders of resources, and waiters: pure, no threads, no clock, no callbacks.
//
// A request names everything that its procedure needs and is granted whole or not at all. Grants follow the one total
// order of keys (S15: total lock order) as if each key were taken in turn: a waiter keeps its place in the queue of
// every key up to the first one that it cannot have yet, and nowhere beyond. So no side starves (queues are first come,
// first served, also between shared and exclusive), and waiters never wait for each other in a cycle.
//
// Trees follow the rule of nested transactions: a lock of an ancestor excludes strangers, not descendants. A descendant
// takes its own grant in addition to its ancestor's, so siblings still exclude each other, and does not queue behind
// strangers that wait for that ancestor.
//
// Resources are looked up by name once, when a plan is made. Granting and releasing a plan touches only the holder and
// its resources, allocates nothing and takes constant time while there are no waiters. A release visits only the
// waiters that are at the released key, not all in its queue.
//
// Not thread-safe; the executor's lock guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/base/small_vector.h"
#include "common/base/strong_id.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/views.h"

namespace ratchet::procedure {

// A holder of locks and the locks that it wants: the lock manager's side of a procedure. The rules are in
// lock_manager.h.

class LockManager;
struct LockResource;  // lock_manager.cc, like the next ones
struct QueuedRequest;
struct QueuedRequestDeleter {
  void operator()(QueuedRequest* request) const;
};

// The locks to take, already looked up. Made by LockManager::Prepare, returned with Forget; any number of holders may
// use one.
class LockPlan {
 public:
  struct Want {
    LockResource* resource;
    LockMode mode;
  };
  [[nodiscard]] bool empty() const { return wants_.empty(); }

 private:
  friend class LockManager;
  SmallVector<Want, 4> wants_;  // in the order of granting
};

// A holder of locks; embedded in its procedure's node. Its address must not change while it holds or waits, and its
// parent must outlive it.
class LockHolder {
 public:
  explicit LockHolder(ProcId who, LockHolder* parent = nullptr) : who_(who), parent_(parent) {}
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;

  void SetParent(LockHolder* parent) { parent_ = parent; }
  [[nodiscard]] ProcId who() const { return who_; }
  [[nodiscard]] bool waits() const { return waiter_ != nullptr; }
  [[nodiscard]] bool holds_any() const { return !held_.empty(); }

 private:
  friend class LockManager;
  struct Held {
    LockResource* resource;
    std::uint32_t slot;  // index of this grant in the resource's list of holders
    LockMode mode;
  };
  const ProcId who_;
  LockHolder* parent_;
  std::unique_ptr<QueuedRequest, QueuedRequestDeleter> waiter_;  // while it waits
  SmallVector<Held, 4> held_;  // in the order of granting; locks handed over by children follow its own
};

struct LockPlace;

class LockManager {
 public:
  LockManager();
  ~LockManager();

  // From now on the manager appends to `moved` each waiter whose wait has changed without ending (a waiter before it
  // has gone, or it is at another key): its new wait may close a cycle. Null: none are reported.
  void Watch(std::vector<ProcId>* moved) { moved_ = moved; }

  // `wanted`: LockSet::Expanded().
  [[nodiscard]] LockPlan Prepare(const std::vector<LockRequest>& wanted);
  void Forget(LockPlan& plan);

  // Returns true if the locks are granted at once. Otherwise `who` waits in the queue until it appears in a list of
  // newly granted.
  bool Request(LockHolder& who, const LockPlan& plan);
  bool Request(LockHolder& who, const std::vector<LockRequest>& wanted);
  // Requests without waiting: false leaves nothing behind.
  bool TryNow(LockHolder& who, const LockPlan& plan);
  bool TryNow(LockHolder& who, const std::vector<LockRequest>& wanted);
  // Leaves the queue.
  void Cancel(LockHolder& who, std::vector<ProcId>& granted);

  // Releases everything that `who` holds; appends the holders that may run now.
  void Release(LockHolder& who, std::vector<ProcId>& granted);
  // Releases everything that `who` holds except `keep` (which it must hold).
  void Retain(LockHolder& who, const std::vector<LockRequest>& keep, std::vector<ProcId>& granted);
  // `from`'s locks become `to`'s, S16 (parent keeps child locks): descendants of `to` that wait for them may proceed.
  void HandOver(LockHolder& from, LockHolder& to, std::vector<ProcId>& granted);
  // At load, ancestors first: grants `who` the locks that its record lists. kFailedPrecondition when a holder that is
  // not an ancestor has one.
  Status Restore(LockHolder& who, const std::vector<LockRequest>& held);

  // Returns the locks in the order of granting; empty if the procedure holds none.
  [[nodiscard]] static std::vector<LockRequest> Held(const LockHolder& who);
  // Everything held or waited for, in the order of keys.
  [[nodiscard]] std::vector<LockInfo> List() const;
  // The blockers of `who`: the key that it waits at, the holders, and the waiters ahead of it in that queue. Omits
  // waiters reachable through another blocker: that keeps the graph linear, and the same nodes are reachable from
  // `who`.
  struct Blocked {
    ResourceKey key;
    std::vector<ProcId> holders;
    std::vector<ProcId> ahead;
  };
  [[nodiscard]] Blocked BlockedBy(const LockHolder& who) const;

  // S15: each lock in `wanted` must be held by `parent` or one of its ancestors, or come later in the order than every
  // lock that these hold. `parent`: null for a root.
  [[nodiscard]] static Status CheckOrder(const LockHolder* parent, const std::vector<LockRequest>& wanted);

 private:
  using Wants = SmallVector<LockPlan::Want, 4>;

  LockResource& Intern(const ResourceKey& key);
  void Unref(LockResource& resource);
  // `holder` or one of its ancestors.
  [[nodiscard]] static bool InFamily(const LockHolder& holder, const LockHolder& other);
  [[nodiscard]] static bool HeldByStrangers(const LockResource& resource, const LockHolder& who, LockMode mode);
  [[nodiscard]] static bool CoveredByAncestor(const LockHolder* ancestor, const LockResource& resource, LockMode mode);
  static void AddAhead(const LockPlace& place, std::vector<ProcId>& pids);
  [[nodiscard]] static bool BlockedInLine(const LockResource& resource, LockMode mode, std::uint64_t arrival);
  // The index of the first want that `who` cannot have; the number of wants when there is none.
  [[nodiscard]] static std::size_t FirstMissing(const LockHolder& who, const Wants& wants, std::uint64_t arrival);

  static void Grant(LockHolder& who, LockResource& resource, LockMode mode);
  void GrantAll(LockHolder& who, const Wants& wants);
  // Removes `held` from its resource's list; the resource itself stays until Unref.
  static void Drop(const LockHolder::Held& held);
  void Wait(LockHolder& who, const Wants& wants);
  std::unique_ptr<QueuedRequest, QueuedRequestDeleter> LeaveLines(QueuedRequest& waiter);
  static void StandAt(QueuedRequest& waiter, std::size_t reached);
  static void StandNowhere(QueuedRequest& waiter);
  // Serves the waiters at what was freed, oldest first, as far as possible.
  void Collect(LockResource& resource);
  void Serve(std::vector<ProcId>& granted);

  std::unordered_map<ResourceKey, std::unique_ptr<LockResource>> resources_;
  std::vector<QueuedRequest*> candidates_;  // of the running Serve
  std::uint64_t arrivals_ = 0;
  std::vector<ProcId>* moved_ = nullptr;
};

}  // namespace ratchet::procedure
