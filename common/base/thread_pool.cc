#include "common/base/thread_pool.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/thread_name.h"

namespace ratchet {

ThreadPool::ThreadPool(const Options& options)
    : max_queued_(options.max_queued), has_urgent_threads_(options.urgent_threads > 0) {
  for (std::size_t i = 0; i < options.threads + options.urgent_threads; ++i) {
    threads_.emplace_back([this, name = options.numbered ? fmt::format("{}-{}", options.name, i) : options.name,
                           urgent_only = i >= options.threads] {
      SetThreadName(name);
      Work(urgent_only);
    });
  }
}

ThreadPool::~ThreadPool() { Stop(); }

bool ThreadPool::Submit(Job job) {
  {
    const MutexLock lock(mutex_);
    std::deque<Job>& queue = job.urgent ? urgent_ : others_;
    if (!stopping_ && queue.size() < max_queued_) {
      queue.push_back(std::move(job));
      if (has_urgent_threads_) {
        changed_.NotifyAll();  // one alone may be a thread that does not take the job
      } else {
        changed_.NotifyOne();
      }
      return true;
    }
  }
  if (job.drop) job.drop();
  return false;
}

void ThreadPool::Work(bool urgent_only) {
  while (true) {
    Job job;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && urgent_.empty() && (urgent_only || others_.empty())) changed_.Wait(mutex_);
      if (stopping_) return;
      std::deque<Job>& queue = urgent_.empty() ? others_ : urgent_;
      job = std::move(queue.front());
      queue.pop_front();
    }
    job.run();
  }
}

void ThreadPool::BeginStop() {
  std::deque<Job> urgent;
  std::deque<Job> others;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    urgent.swap(urgent_);
    others.swap(others_);
    changed_.NotifyAll();
  }
  for (const auto* queue : {&urgent, &others}) {
    for (const Job& job : *queue) {
      if (job.drop) job.drop();
    }
  }
}

void ThreadPool::Stop() {
  BeginStop();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace ratchet
