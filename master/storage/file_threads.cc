#include "master/storage/file_threads.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/thread_name.h"

namespace ratchet::master {

FileThreads::FileThreads(const Options& options) : most_waiting_(options.most_waiting) {
  for (std::size_t i = 0; i <= options.threads; ++i) {
    threads_.emplace_back([this, name = fmt::format("{}-{}", options.name, i), urgent = i == options.threads] {
      SetThreadName(name);
      Work(urgent);
    });
  }
}

FileThreads::~FileThreads() { Stop(); }

bool FileThreads::Run(Job job) {
  {
    MutexLock lock(mutex_);
    std::deque<Job>& line = job.urgent ? urgent_ : others_;
    if (!stopping_ && line.size() < most_waiting_) {
      line.push_back(std::move(job));
      changed_.NotifyAll();
      return true;
    }
  }
  if (job.drop) job.drop();
  return false;
}

void FileThreads::Work(bool urgent_only) {
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

void FileThreads::Stop() {
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
  for (const Job& job : dropped) {
    if (job.drop) job.drop();
  }
}

}  // namespace ratchet::master
