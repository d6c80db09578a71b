// Holders of resources, and waiters: pure, no threads, no clock, no callbacks.
//
// A request names everything that its procedure needs and is granted whole or not at all. Grants follow the one total
// order of keys (S15) as if each key were taken in turn: a waiter keeps its place in line at every key up to the first
// one that it cannot have yet, and nowhere beyond. So neither side starves (lines are first come, first served, also
// between shared and exclusive), and no waiters wait for each other in a ring.
//
// Trees follow the rule of nested transactions: what an ancestor holds excludes strangers, not descendants. A
// descendant takes its own grant beside its ancestor's, so siblings still exclude each other, and does not stand in
// line behind strangers that wait for that ancestor.
//
// Resources are looked up by name once, when a plan is made; granting and releasing a plan touches only the holder and
// its resources, allocates nothing and takes constant time while there are no waiters. A release meets only those that
// stand at what was released, not all that are in its line.
//
// Not thread-safe; the executor's session guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/base/small_vector.h"
#include "common/base/strong_id.h"
#include "procedure/author/lock_request.h"
#include "procedure/pure/lock_holder.h"
#include "procedure/record/inspect.h"

namespace ratchet::procedure {

struct LockPlace;  // lock_resource.h

class LockManager {
 public:
  LockManager();
  ~LockManager();

  // From now on those whose wait has changed without ending (a waiter before them has gone; they stand at another key)
  // are appended to `moved`: what they wait for now may close a ring. Null: none are reported.
  void Watch(std::vector<ProcId>* moved) { moved_ = moved; }

  // `wanted`: LockSet::Expanded().
  [[nodiscard]] LockPlan Prepare(const std::vector<LockRequest>& wanted);
  void Forget(LockPlan& plan);

  // Granted at once: true. Else `who` waits in line until it appears in a list of newly granted.
  bool Request(LockHolder& who, const LockPlan& plan);
  bool Request(LockHolder& who, const std::vector<LockRequest>& wanted);
  // The same without waiting: false leaves nothing behind.
  bool TryNow(LockHolder& who, const LockPlan& plan);
  bool TryNow(LockHolder& who, const std::vector<LockRequest>& wanted);
  // Leaves the line.
  void Cancel(LockHolder& who, std::vector<ProcId>& granted);

  // Lets go of everything that `who` holds; appends the holders that may run now.
  void Release(LockHolder& who, std::vector<ProcId>& granted);
  // Keeps of what `who` holds only `keep` (which it must hold).
  void Retain(LockHolder& who, const std::vector<LockRequest>& keep, std::vector<ProcId>& granted);
  // `from`'s locks become `to`'s (S16): descendants of `to` that wait for them may go on.
  void HandOver(LockHolder& from, LockHolder& to, std::vector<ProcId>& granted);
  // At load, ancestors first: gives `who` what its record says that it held. kFailedPrecondition when a holder that is
  // no ancestor has it.
  Status Restore(LockHolder& who, const std::vector<LockRequest>& held);

  // In the order of granting; empty when it holds nothing.
  [[nodiscard]] static std::vector<LockRequest> Held(const LockHolder& who);
  // Everything held or waited for, in the order of keys.
  [[nodiscard]] std::vector<LockInfo> List() const;
  // What `who` waits for: the key at which it stands, the holders, and the waiters ahead of it in that line, but for
  // those one of these waits for: linear over a whole line, and what can be reached from `who` is the same.
  struct Blocked {
    ResourceKey key;
    std::vector<ProcId> holders;
    std::vector<ProcId> ahead;
  };
  [[nodiscard]] Blocked BlockedBy(const LockHolder& who) const;

  // S15: what `wanted` holds must be covered by an ancestor of a child of `parent` (null: none) or come later than
  // everything that these hold.
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
  // The first want that `who` cannot have; the number of wants when there is none.
  [[nodiscard]] static std::size_t FirstMissing(const LockHolder& who, const Wants& wants, std::uint64_t arrival);

  static void Take(LockHolder& who, LockResource& resource, LockMode mode);
  void TakeAll(LockHolder& who, const Wants& wants);
  // Takes `held` off its resource's list; the resource itself stays until Unref.
  static void Drop(const LockHolder::Held& held);
  void Wait(LockHolder& who, const Wants& wants);
  std::unique_ptr<QueuedRequest, QueuedRequestDeleter> LeaveLines(QueuedRequest& waiter);
  static void StandAt(QueuedRequest& waiter, std::size_t reached);
  static void StandNowhere(QueuedRequest& waiter);
  // Serves the waiters at what was freed, oldest first, as far as they go.
  void Collect(LockResource& resource);
  void Serve(std::vector<ProcId>& granted);

  std::unordered_map<ResourceKey, std::unique_ptr<LockResource>> resources_;
  std::vector<QueuedRequest*> candidates_;  // of the Serve under way
  std::uint64_t arrivals_ = 0;
  std::vector<ProcId>* moved_ = nullptr;
};

}  // namespace ratchet::procedure
