#include <algorithm>
#include <list>
#include <thread>

#include "common/base/check.h"
#include "common/base/thread_name.h"
#include "procedure/worker_pool.h"

namespace ratchet::procedure {
namespace {

// A worker sleeps only if no notification has come since before it last looked for work.
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
    MutexLock lock(mutex_);
    ++news_;
    if (urgent) ++urgent_news_;
    if (sleepers_ > 0) {
      general_.NotifyOne();
    } else if (urgent) {
      urgent_.NotifyOne();
    }
    // A general worker may be stuck in a step: the reserved one looks too.
    if (urgent && sleepers_ > 0) urgent_.NotifyOne();
  }

  void Stop() override {
    std::list<std::thread> threads;
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      general_.NotifyAll();
      urgent_.NotifyAll();
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  bool AddTemporary(Millis idle) override {
    MutexLock lock(mutex_);
    if (stopping_ || source_ == nullptr || temporary_ >= options_.max_temporary) return false;
    ++temporary_;
    Launch(/*urgent_only=*/false, idle);
    return true;
  }

  std::size_t size() const override {
    MutexLock lock(mutex_);
    return running_;
  }

 private:
  void Launch(bool urgent_only, Millis idle) REQUIRES(mutex_) {
    const WorkerInfo info{next_number_++, urgent_only};
    ++running_;
    threads_.emplace_back([this, info, idle] { Work(info, idle); });
  }

  void Work(WorkerInfo info, Millis idle) {
    SetThreadName(options_.name + "-" + std::to_string(info.number) + (info.urgent_only ? "u" : ""));
    std::uint64_t seen = 0;
    while (true) {
      {
        MutexLock lock(mutex_);
        if (stopping_) break;
        seen = info.urgent_only ? urgent_news_ : news_;
      }
      if (source()->RunNext(info)) continue;
      if (!Sleep(info, idle, seen)) break;
    }
    MutexLock lock(mutex_);
    --running_;
    if (idle.count() > 0) --temporary_;
  }

  // False: the worker's life is over.
  bool Sleep(const WorkerInfo& info, Millis idle, std::uint64_t seen) {
    MutexLock lock(mutex_);
    const std::uint64_t& counter = info.urgent_only ? urgent_news_ : news_;
    CondVar& cond = info.urgent_only ? urgent_ : general_;
    while (!stopping_ && counter == seen) {
      if (!info.urgent_only) ++sleepers_;
      bool notified = true;
      if (idle.count() > 0) {
        notified = cond.WaitFor(mutex_, idle);
      } else {
        cond.Wait(mutex_);
      }
      if (!info.urgent_only) --sleepers_;
      if (!notified && counter == seen) return false;
    }
    return !stopping_;
  }

  WorkSource* source() {
    MutexLock lock(mutex_);
    return source_;
  }

  const ThreadWorkersOptions options_;
  mutable Mutex mutex_;
  CondVar general_;
  CondVar urgent_;
  WorkSource* source_ GUARDED_BY(mutex_) = nullptr;
  std::list<std::thread> threads_ GUARDED_BY(mutex_);
  std::uint64_t news_ GUARDED_BY(mutex_) = 0;
  std::uint64_t urgent_news_ GUARDED_BY(mutex_) = 0;
  std::size_t sleepers_ GUARDED_BY(mutex_) = 0;
  std::size_t running_ GUARDED_BY(mutex_) = 0;
  std::size_t temporary_ GUARDED_BY(mutex_) = 0;
  std::uint32_t next_number_ GUARDED_BY(mutex_) = 1;
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<WorkerPool> MakeThreadWorkers(ThreadWorkersOptions options) {
  return std::make_unique<ThreadWorkers>(std::move(options));
}

}  // namespace ratchet::procedure
