#include "common/io/sync_watch.h"

#include <algorithm>

namespace ratchet::io {
namespace {

constexpr std::uint64_t kBytesPerMilli = 2 << 10;  // 2 MiB a second

}  // namespace

SyncWatch& SyncWatch::OfProcess() {
  static const SystemClock clock;
  static auto* const watch = new SyncWatch(clock);  // never freed: threads may use it during exit
  return *watch;
}

namespace {
thread_local SyncWatch* of_this_thread = nullptr;
}  // namespace

SyncWatch& SyncWatch::OfThisThread() { return of_this_thread == nullptr ? OfProcess() : *of_this_thread; }
void SyncWatch::UseOnThisThread(SyncWatch& watch) { of_this_thread = &watch; }

SyncWatch::Operation::Operation(SyncWatch& watch, std::uint64_t bytes) : watch_(watch), began_(watch.clock_.Now()) {
  MutexLock lock(watch_.mutex_);
  entry_ = watch_.under_way_.insert(watch_.under_way_.end(), began_ + Millis(bytes / kBytesPerMilli));
}

SyncWatch::Operation::~Operation() {
  if (proves_) watch_.syncs_.Note(watch_.clock_.Now() - began_);
  MutexLock lock(watch_.mutex_);
  watch_.under_way_.erase(entry_);
  if (proves_) watch_.proven_at_ = std::max(watch_.proven_at_.value_or(TimePoint{}), began_);
}

std::optional<Millis> SyncWatch::OldestUnfinished() const {
  const TimePoint now = clock_.Now();
  MutexLock lock(mutex_);
  if (under_way_.empty()) return std::nullopt;
  const TimePoint oldest = *std::min_element(under_way_.begin(), under_way_.end());
  return std::max(Millis(0), std::chrono::duration_cast<Millis>(now - oldest));
}

std::optional<Millis> SyncWatch::Proof() const {
  const TimePoint now = clock_.Now();
  MutexLock lock(mutex_);
  if (!proven_at_.has_value()) return std::nullopt;
  return std::chrono::duration_cast<Millis>(now - *proven_at_);
}

}  // namespace ratchet::io
