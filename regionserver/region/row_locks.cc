#include "regionserver/region/row_locks.h"

#include <algorithm>

#include <fmt/format.h>

#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {

// The log settles its entries in their order, so the settled ones are in front.
void StagedRow::Prune() {
  std::size_t settled = 0;
  for (; settled < parts_.size() && parts_[settled].made.write->settled.load(std::memory_order_acquire); ++settled)
    for (const PendingCells::Place place : parts_[settled].places) cells_.Remove(place);
  if (settled == 0) return;
  parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(settled));
  encoded_ -= std::min(encoded_, settled);
}

std::uint64_t StagedRow::first_sequence() const {
  return parts_.empty() ? 0 : parts_.front().made.write->entry.sequence;
}

bool StagedRow::HasNonce(std::uint64_t group, std::uint64_t value) const {
  return std::any_of(parts_.begin(), parts_.end(), [group, value](const Part& part) {
    const LogEntry& entry = part.made.write->entry;
    if (entry.sequence == 0) return false;  // of the entry that is being planned
    const std::vector<UsedNonce>& nonces = entry.nonces;
    for (std::size_t i = part.made.first_nonce; i < part.made.end_nonce; ++i)
      if (nonces[i].group == group && nonces[i].value == value) return true;
    return false;
  });
}

const PendingCells& StagedRow::Cells(const std::string& row) {
  for (; encoded_ < parts_.size(); ++encoded_) {
    Part& part = parts_[encoded_];
    const LogEntry& entry = part.made.write->entry;
    for (std::size_t i = part.made.first_cell; i < part.made.end_cell; ++i) {
      if (entry.cells[i].cell.row != row) continue;
      if (const auto place = cells_.Add(entry.cells[i], entry.sequence)) part.places.push_back(*place);
    }
  }
  return cells_;
}

RowLocks::Held::~Held() {
  Unlock();
  Settle();
}

StagedRow* RowLocks::Held::Staged(const std::string& row) {
  const auto found = std::lower_bound(rows_.begin(), rows_.end(), row,
                                      [](const Rows::value_type* a, const std::string& b) { return a->first < b; });
  return found != rows_.end() && (*found)->first == row ? &(*found)->second.staged : nullptr;
}

void RowLocks::Held::Unlock() {
  MutexLock lock(locks_->mutex_);
  if (!std::exchange(locked_, false)) return;
  for (Rows::value_type* row : rows_) {
    locks_->Unlock(row->second);
    locks_->ForgetIfIdle(*row);  // the log may have been faster
  }
}

void RowLocks::Held::Settle() {
  MutexLock lock(locks_->mutex_);
  if (std::exchange(settled_, true)) return;
  for (Rows::value_type* row : rows_) locks_->EndUse(*row);
}

void RowLocks::Unlock(Row& row) {
  row.locked = false;
  if (row.waiting > 0) row.free.NotifyOne();
}

void RowLocks::ForgetIfIdle(const Rows::value_type& row) {
  if (row.second.locked || row.second.users > 0 || row.second.waiting > 0) return;
  rows_.erase(rows_.find(row.first));
}

void RowLocks::EndUse(Rows::value_type& row) {
  if (row.second.users-- == kMostStaged && row.second.waiting > 0) row.second.free.NotifyOne();
  ForgetIfIdle(row);
}

// A waiter that is notified and finds the row locked again leaves the next notification to that holder.
Status RowLocks::Wait(Row& row, TimePoint deadline, Millis wait) {
  const SystemClock clock;  // real time limits waits; no protocol depends on it
  while (!abandoned_ && (row.locked || row.users >= kMostStaged)) {
    const auto left = deadline - clock.Now();
    if (left <= TimePoint::duration::zero())
      return TooBusy(fmt::format("a lock on the row was not free within {} ms", wait.count()));
    ++row.waiting;
    row.free.WaitFor(mutex_, left);
    --row.waiting;
  }
  if (abandoned_) return Error(Code::kAborted, "the region was dropped while a row lock was awaited");
  return Ok();
}

Result<std::shared_ptr<RowLocks::Held>> RowLocks::Acquire(const std::set<std::string>& rows, Millis wait) {
  const TimePoint deadline = SystemClock().Now() + wait;
  std::vector<Rows::value_type*> got;
  got.reserve(rows.size());
  MutexLock lock(mutex_);
  for (const std::string& name : rows) {
    Rows::value_type& row = *rows_.try_emplace(name, order_).first;
    if (const Status free = Wait(row.second, deadline, wait); !free.ok()) {
      ForgetIfIdle(row);
      for (Rows::value_type* mine : got) {
        Unlock(mine->second);
        EndUse(*mine);
      }
      return free.error();
    }
    row.second.locked = true;
    ++row.second.users;
    got.push_back(&row);
  }
  return std::make_shared<Held>(shared_from_this(), std::move(got));
}

void RowLocks::Abandon() {
  MutexLock lock(mutex_);
  abandoned_ = true;
  for (auto& [name, row] : rows_) row.free.NotifyAll();
}

std::size_t RowLocks::size() const {
  MutexLock lock(mutex_);
  return rows_.size();
}

}  // namespace ratchet::regionserver
