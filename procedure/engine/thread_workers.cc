#include "procedure/engine/thread_workers.h"

#include <atomic>
#include <list>
#include <system_error>
#include <thread>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/thread_name.h"
#include "procedure/api/worker_pool.h"

namespace ratchet::procedure {

void IdleWorkers::WakeFirst() {
  Seat* const first = line_.head;
  line_.Remove(first);
  --sleepers_;
  first->woken = true;
  first->cond.NotifyOne();  // under the mutex: the seat is gone once its worker has left
}

void IdleWorkers::Ring() {
  MutexLock lock(mutex_);
  if (line_.empty()) {
    waking_ = false;  // all are awake: they see the news before they sleep
  } else {
    WakeFirst();
  }
}

bool IdleWorkers::Sleep(std::uint64_t seen, Millis idle) {
  MutexLock lock(mutex_);
  ++sleepers_;  // before the check for news: Announce counts first and looks for sleepers then
  if (closed_ || news_ != seen) {
    --sleepers_;
    return !closed_;
  }
  Seat seat;
  line_.PushFront(&seat);
  bool in_time = true;
  while (!seat.woken && in_time) {
    if (idle.count() > 0) {
      in_time = seat.cond.WaitFor(mutex_, idle);
    } else {
      seat.cond.Wait(mutex_);
    }
  }
  if (!seat.woken) {
    line_.Remove(&seat);
    --sleepers_;
    return news_ != seen;
  }
  waking_ = false;
  return !closed_;
}

void IdleWorkers::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  while (!line_.empty()) WakeFirst();
}

namespace {

// Pieces of work between two checks whether the pool stops.
constexpr std::size_t kInOneGo = 64;

class ThreadWorkers final : public WorkerPool {
 public:
  explicit ThreadWorkers(ThreadWorkersOptions options) : options_(std::move(options)) {
    RATCHET_CHECK(options_.workers > 0, "a pool needs a worker");
  }
  ~ThreadWorkers() override { Stop(); }

  void Start(WorkSource& source) override {
    MutexLock lock(mutex_);
    RATCHET_CHECK(source_ == nullptr, "a pool starts once");
    source_ = &source;
    for (std::size_t i = 0; i < options_.reserved; ++i) Launch(/*urgent_only=*/true, Millis{0});
    for (std::size_t i = 0; i < options_.workers; ++i) Launch(/*urgent_only=*/false, Millis{0});
  }

  void Notify(bool urgent) override {
    Wake(general_);
    // A general worker may be stuck in a step, so the reserved one looks for work too.
    if (urgent) Wake(urgent_);
  }

  void Stop() override {
    std::list<std::thread> threads;
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      threads.swap(threads_);
      threads.splice(threads.end(), ended_);
    }
    general_.Close();
    urgent_.Close();
    for (std::thread& thread : threads) thread.join();
  }

  bool AddTemporary(Millis idle) override {
    MutexLock lock(mutex_);
    if (stopping_ || source_ == nullptr || temporary_ >= options_.max_temporary) return false;
    try {
      Launch(/*urgent_only=*/false, idle);
    } catch (const std::system_error& none) {
      RATCHET_LOG(kWarn, "no thread for another worker: {}", none.what());
      return false;
    }
    ++temporary_;
    return true;
  }

  std::size_t size() const override {
    MutexLock lock(mutex_);
    return running_;
  }

 private:
  static void Wake(IdleWorkers& group) {
    if (group.Announce()) group.Ring();
  }

  using Place = std::list<std::thread>::iterator;

  void Launch(bool urgent_only, Millis idle) REQUIRES(mutex_) {
    const WorkerInfo info{next_number_, urgent_only};
    std::list<std::thread> made(1);
    const Place self = made.begin();
    *self = std::thread([this, info, idle, self] { Work(info, idle, self); });  // its last act waits for mutex_
    threads_.splice(threads_.end(), made);
    ++next_number_;
    ++running_;
  }

  void Work(WorkerInfo info, Millis idle, Place self) {
    SetThreadName(options_.name + "-" + std::to_string(info.number) + (info.urgent_only ? "u" : ""));
    IdleWorkers& group = info.urgent_only ? urgent_ : general_;
    while (!stopping_) {
      const std::uint64_t seen = group.news();
      if (source_.load()->Run(info, kInOneGo) == kInOneGo) continue;
      if (!group.Sleep(seen, idle)) break;
    }
    End(self, idle.count() > 0);
  }

  // A thread keeps its stack until it is joined. A worker that ends before Stop joins those that ended before it, and
  // leaves its own thread to the next one, or to Stop.
  void End(Place self, bool temporary) {
    std::list<std::thread> before;
    {
      MutexLock lock(mutex_);
      --running_;
      if (temporary) --temporary_;
      if (stopping_) return;  // Stop joins all
      before.swap(ended_);
      ended_.splice(ended_.end(), threads_, self);
    }
    for (std::thread& thread : before) thread.join();
  }

  const ThreadWorkersOptions options_;
  mutable Mutex mutex_;
  // Each group looks for the same work.
  IdleWorkers general_;
  IdleWorkers urgent_;
  std::atomic<WorkSource*> source_{nullptr};
  std::list<std::thread> threads_ GUARDED_BY(mutex_);
  std::list<std::thread> ended_ GUARDED_BY(mutex_);  // at most one: its worker has done all but return
  std::size_t running_ GUARDED_BY(mutex_) = 0;
  std::size_t temporary_ GUARDED_BY(mutex_) = 0;
  std::uint32_t next_number_ GUARDED_BY(mutex_) = 1;
  std::atomic<bool> stopping_{false};
};

}  // namespace

std::unique_ptr<WorkerPool> MakeThreadWorkers(ThreadWorkersOptions options) {
  return std::make_unique<ThreadWorkers>(std::move(options));
}

}  // namespace ratchet::procedure
