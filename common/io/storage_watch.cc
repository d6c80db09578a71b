#include "common/io/storage_watch.h"

#include <atomic>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"
#include "common/base/thread_pool.h"

namespace ratchet::io {
namespace {

constexpr Millis kPoll{100};

}  // namespace

struct StorageWatch::Impl {
  Impl(const Clock& the_clock, SyncWatch& the_watch, StorageWatchOptions the_options, StorageWatchParts the_parts)
      : clock(the_clock), watch(the_watch), options(the_options), parts(std::move(the_parts)) {}

  void RunLook() {
    const SyncWatch::Operation operation(watch, 0);
    const bool prove = proof_wanted.exchange(false);
    if (parts.look) parts.look();
    if (prove && parts.prove) parts.prove();
  }

  void RunWatch() {
    SetThreadName("storage-watch");
    mutex.Lock();
    while (!stopped) {
      changed.WaitFor(mutex, kPoll);
      if (stopped) break;
      mutex.Unlock();
      const bool left = WithdrawIfDue();
      mutex.Lock();
      if (left) break;
    }
    mutex.Unlock();
  }

  [[nodiscard]] bool Permitted(Millis age) {
    if ((parts.permitted && parts.permitted(age)) || RATCHET_MUTANT("storage.no_permission")) return true;
    MutexLock lock(mutex);
    return permitted_at.has_value() && clock.Now() - *permitted_at <= options.permission_holds;
  }

  // The log line follows the end of the session, because writing it may hang like other writes.
  [[nodiscard]] bool WithdrawIfDue() {
    const auto age = watch.OldestUnfinished();
    if (options.limit.Get() == Millis(0) || !age.has_value() || *age < options.limit.Get() || !Permitted(*age))
      return false;
    const std::string why = fmt::format(
        "the storage has not answered for {} ms, and it answers others: withdrawn from the cluster", age->count());
    parts.leave();
    const TimePoint until = clock.Now() + options.end_within;
    parts.end(why);
    {
      MutexLock lock(mutex);
      while (!stopped && clock.Now() < until) changed.WaitFor(mutex, kPoll);
      if (stopped) return true;
    }
    if (parts.last_resort) parts.last_resort(why);
    return true;
  }

  const Clock& clock;
  SyncWatch& watch;
  const StorageWatchOptions options;
  const StorageWatchParts parts;
  Mutex mutex;
  CondVar changed;
  bool stopped GUARDED_BY(mutex) = false;
  std::optional<TimePoint> permitted_at GUARDED_BY(mutex);
  std::atomic<bool> proof_wanted{false};
  std::thread watching;
  // Last, because its thread uses the others. Requests that come while one is queued share its look.
  ThreadPool looks{{.name = "storage-look", .max_queued = 1, .numbered = false}};
};

StorageWatch::StorageWatch(const Clock& clock, SyncWatch& watch, StorageWatchOptions options, StorageWatchParts parts)
    : watch_(watch), impl_(std::make_unique<Impl>(clock, watch, options, std::move(parts))) {
  impl_->watching = std::thread([impl = impl_.get()] { impl->RunWatch(); });
}

StorageWatch::~StorageWatch() {
  Stop();
  impl_->watching.join();
}

void StorageWatch::Look(bool prove) {
  if (prove) impl_->proof_wanted = true;
  static_cast<void>(impl_->looks.Submit({[impl = impl_.get()] { impl->RunLook(); }}));
}

void StorageWatch::Permit() {
  MutexLock lock(impl_->mutex);
  impl_->permitted_at = impl_->clock.Now();
}

Millis StorageWatch::limit() const { return impl_->options.limit; }

void StorageWatch::Stop() {
  impl_->looks.BeginStop();
  MutexLock lock(impl_->mutex);
  impl_->stopped = true;
  impl_->changed.NotifyAll();
}

}  // namespace ratchet::io
