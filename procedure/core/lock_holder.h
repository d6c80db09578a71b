// A holder of locks and the locks that it wants: the lock manager's side of a procedure. The rules are in
// lock_manager.h.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/small_vector.h"
#include "common/base/strong_id.h"
#include "procedure/api/lock_request.h"

namespace ratchet::procedure {

class LockManager;
struct LockResource;  // lock_resource.h
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

}  // namespace ratchet::procedure
