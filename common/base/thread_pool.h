// ThreadPool: named threads that run submitted jobs in the order of their submission.
//
// Urgent jobs precede all other queued jobs. The urgent threads run only urgent jobs, so that these never wait for
// another job that hangs. Pools share this code and no threads: each duty that must not wait for another has a pool of
// its own. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"

namespace ratchet {

class ThreadPool {
 public:
  struct Job {
    std::function<void()> run;
    std::function<void()> drop{};  // called instead of `run` if the job is refused, or queued at the stop; may be empty
    bool urgent = false;
  };
  struct Options {
    std::string name;
    std::size_t threads = 1;
    std::size_t urgent_threads = 0;     // in addition to `threads`
    std::size_t max_queued = SIZE_MAX;  // of urgent jobs and of others apart
    bool numbered = true;               // threads are "<name>-0", ...; false: each has just the name
  };
  explicit ThreadPool(const Options& options);
  ~ThreadPool();  // Stop()
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Returns false if the job is refused, because the queue is full or the pool stops: then the job has been dropped.
  [[nodiscard]] bool Submit(Job job);
  // Refuses jobs from now on, and drops the queued ones. Does not wait.
  void BeginStop();
  // Also waits for the running jobs. Not from a job.
  void Stop();

 private:
  void Work(bool urgent_only);

  const std::size_t max_queued_;
  const bool has_urgent_threads_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> urgent_ GUARDED_BY(mutex_);
  std::deque<Job> others_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace ratchet
