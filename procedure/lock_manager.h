// Who holds which resource and who waits: pure, no threads, no clock, no callbacks.
//
// A request names everything that its procedure needs and is granted whole or not at all. Grants follow the one total order
// of keys (S15) as if each key were taken in turn: a waiter keeps its place in line at every key up to the first one that it
// cannot have yet, and nowhere beyond. So neither side starves (lines are first come, first served, also between shared and
// exclusive), and nobody waits for somebody who waits for him.
//
// Trees follow the rule of nested transactions: what an ancestor holds excludes strangers, not descendants. A descendant
// takes its own grant beside its ancestor's, so siblings still exclude each other, and does not stand in line behind strangers
// who wait for that ancestor.
//
// Not thread-safe; the executor's session guards it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/inspect.h"
#include "procedure/lock_request.h"

namespace ratchet::procedure {

class LockManager {
 public:
  // `ancestors`: nearest first. `wanted`: LockSet::Expanded(). Granted at once: true. Else the request waits in line until
  // `who` appears in a list of newly granted.
  bool Request(ProcId who, std::span<const ProcId> ancestors, const std::vector<LockRequest>& wanted);
  // The same without waiting: false leaves nothing behind.
  bool TryNow(ProcId who, std::span<const ProcId> ancestors, const std::vector<LockRequest>& wanted);
  // Leaves the line.
  void Cancel(ProcId who, std::vector<ProcId>& granted);

  // Lets go of everything that `who` holds; appends who may run now.
  void Release(ProcId who, std::vector<ProcId>& granted);
  // Keeps of what `who` holds only `keep` (which it must hold).
  void Retain(ProcId who, const std::vector<LockRequest>& keep, std::vector<ProcId>& granted);
  // `from`'s locks become `to`'s (S16): descendants of `to` that wait for them may go on.
  void HandOver(ProcId from, ProcId to, std::vector<ProcId>& granted);
  // At load, ancestors first: gives `who` what its record says that it held. kFailedPrecondition when somebody who is no
  // ancestor has it.
  Status Restore(ProcId who, std::span<const ProcId> ancestors, const std::vector<LockRequest>& held);

  // In the order of granting; empty when it holds nothing.
  [[nodiscard]] const std::vector<LockRequest>& Held(ProcId who) const;
  [[nodiscard]] bool Waits(ProcId who) const { return waiting_.contains(who); }
  // Everything held or waited for, in the order of keys.
  [[nodiscard]] std::vector<LockInfo> List() const;
  // Whom `who` waits for: the key at which it stands, the holders, and who is ahead of it in that line.
  struct Blocked {
    ResourceKey key;
    std::vector<ProcId> holders;
    std::vector<ProcId> ahead;
  };
  [[nodiscard]] Blocked BlockedBy(ProcId who) const;

  // S15: what `wanted` holds must be covered by an ancestor or come later than everything that the ancestors hold.
  [[nodiscard]] Status CheckOrder(std::span<const ProcId> ancestors, const std::vector<LockRequest>& wanted) const;

 private:
  struct Waiter {
    ProcId who;
    std::uint64_t arrival = 0;
    std::vector<ProcId> ancestors;
    std::vector<LockRequest> wanted;
    std::size_t reached = 0;          // first key that it cannot have yet
  };
  struct Resource {
    // Holder -> how many grants (handed over ones add up). Exclusive ones are a chain of ancestors.
    std::vector<std::pair<ProcId, std::uint32_t>> exclusive;
    std::unordered_map<ProcId, std::uint32_t> shared;
    std::map<std::uint64_t, std::pair<Waiter*, LockMode>> line;  // by arrival
    [[nodiscard]] bool idle() const { return exclusive.empty() && shared.empty() && line.empty(); }
  };
  using Resources = std::unordered_map<ResourceKey, Resource>;

  [[nodiscard]] bool Covered(std::span<const ProcId> ancestors, const LockRequest& request) const;
  // Holders who are neither `who` nor among the ancestors keep the request out.
  [[nodiscard]] static bool HeldByStrangers(const Resource& resource, ProcId who, std::span<const ProcId> ancestors,
                                            LockMode mode);
  // Earlier arrivals whose place in this line keeps `waiter` out.
  static bool BlocksInLine(const Waiter& ahead, LockMode ahead_mode, const LockRequest& request);
  // Finds the first key that `waiter` cannot have; true when there is none.
  bool Advance(Waiter& waiter) const;
  void Take(ProcId who, const LockRequest& request);
  void TakeAll(ProcId who, const std::vector<LockRequest>& requests);
  void Drop(ProcId who, const LockRequest& request);
  void LeaveLines(Waiter& waiter);
  // Serves the lines of `keys` as far as they go.
  void Serve(const std::vector<LockRequest>& keys, std::vector<ProcId>& granted);
  void Forget(const ResourceKey& key);

  Resources resources_;
  std::unordered_map<ProcId, std::vector<LockRequest>> held_;
  std::unordered_map<ProcId, std::unique_ptr<Waiter>> waiting_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace ratchet::procedure
