// Locks on rows, held from the evaluation of a mutation until it is readable. Not bound to a thread: the log's thread
// releases them.
//
// All callers lock several rows in the same order, which prevents deadlock.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_set>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace ratchet::regionserver {

class RowLocks : public std::enable_shared_from_this<RowLocks> {
 public:
  // Releases the locks when destroyed, on any thread.
  class Held {
   public:
    Held(std::shared_ptr<RowLocks> locks, std::set<std::string> rows)
        : locks_(std::move(locks)), rows_(std::move(rows)) {}
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    const std::shared_ptr<RowLocks> locks_;
    const std::set<std::string> rows_;
  };

  // Waits up to `wait` for all of them. kResourceExhausted (RegionTooBusyException) when that was not enough; kAborted
  // after Abandon.
  [[nodiscard]] Result<std::shared_ptr<Held>> Acquire(std::set<std::string> rows, Millis wait);
  // Wakes all waiters; after this no caller gets a lock.
  void Abandon();

 private:
  void Release(const std::set<std::string>& rows);

  Mutex mutex_;
  CondVar released_;
  std::unordered_set<std::string> held_ GUARDED_BY(mutex_);
  bool abandoned_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::regionserver
