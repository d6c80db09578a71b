// The threads that seal the logs of dead servers: reading them takes long, and several servers may die together.
//
// What is urgent (the logs of the server that carried hbase:meta) goes before everything else that waits, and one
// thread does nothing else, so that it waits for no other server's logs. A crash procedure has one job here at most,
// which bounds the queue. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "common/base/mutex.h"

namespace ratchet::master {

class SealThreads {
 public:
  struct Job {
    std::function<void()> run;
    std::function<void()> drop;  // instead of `run`, at the stop
    bool urgent = false;
  };
  // `threads`: for all jobs; one more is for urgent ones only.
  explicit SealThreads(std::size_t threads);
  ~SealThreads();  // Stop()
  SealThreads(const SealThreads&) = delete;
  SealThreads& operator=(const SealThreads&) = delete;

  void Run(Job job);  // after Stop: drops it
  // Waits for what runs, drops what waits.
  void Stop();

 private:
  void Work(bool urgent_only);

  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> urgent_ GUARDED_BY(mutex_);
  std::deque<Job> others_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::master
