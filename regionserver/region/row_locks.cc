#include "regionserver/region/row_locks.h"

#include <fmt/format.h>

#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {

RowLocks::Held::~Held() { locks_->Release(rows_); }

Result<std::shared_ptr<RowLocks::Held>> RowLocks::Acquire(std::set<std::string> rows, Millis wait) {
  const SystemClock clock;  // real time limits waits; no protocol depends on it
  const TimePoint deadline = clock.Now() + wait;
  std::set<std::string> got;
  MutexLock lock(mutex_);
  for (const std::string& row : rows) {
    while (!abandoned_ && held_.contains(row)) {
      const auto left = deadline - clock.Now();
      if (left <= TimePoint::duration::zero()) {
        for (const std::string& mine : got) held_.erase(mine);
        released_.NotifyAll();
        return TooBusy(fmt::format("a lock on the row was not free within {} ms", wait.count()));
      }
      released_.WaitFor(mutex_, left);
    }
    if (abandoned_) return Error(Code::kAborted, "the region was dropped while a row lock was awaited");
    held_.insert(row);
    got.insert(row);
  }
  return std::make_shared<Held>(shared_from_this(), std::move(rows));
}

void RowLocks::Release(const std::set<std::string>& rows) {
  MutexLock lock(mutex_);
  for (const std::string& row : rows) held_.erase(row);
  released_.NotifyAll();
}

void RowLocks::Abandon() {
  MutexLock lock(mutex_);
  abandoned_ = true;
  released_.NotifyAll();
}

}  // namespace ratchet::regionserver
