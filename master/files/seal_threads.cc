#include "master/files/seal_threads.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/thread_name.h"

namespace ratchet::master {

SealThreads::SealThreads(std::size_t threads) {
  for (std::size_t i = 0; i <= threads; ++i) {
    threads_.emplace_back([this, i, threads] {
      SetThreadName(fmt::format("log-sealer-{}", i));
      Work(/*urgent_only=*/i == threads);
    });
  }
}

SealThreads::~SealThreads() { Stop(); }

void SealThreads::Run(Job job) {
  {
    MutexLock lock(mutex_);
    if (!stopping_) {
      (job.urgent ? urgent_ : others_).push_back(std::move(job));
      changed_.NotifyAll();
      return;
    }
  }
  job.drop();
}

void SealThreads::Work(bool urgent_only) {
  while (true) {
    Job job;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && urgent_.empty() && (urgent_only || others_.empty())) changed_.Wait(mutex_);
      if (stopping_) return;
      std::deque<Job>& line = urgent_.empty() ? others_ : urgent_;
      job = std::move(line.front());
      line.pop_front();
    }
    job.run();
  }
}

void SealThreads::Stop() {
  std::deque<Job> dropped;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(urgent_);
    for (Job& job : others_) dropped.push_back(std::move(job));
    others_.clear();
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  for (const Job& job : dropped) job.drop();
}

}  // namespace ratchet::master
