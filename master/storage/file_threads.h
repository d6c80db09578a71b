// Threads for work that waits for the storage: they seal the logs of dead servers, copy snapshots, and act on files for
// steps.
//
// Urgent jobs (what hbase:meta or a crash procedure waits for) precede all queued jobs, and one thread runs only urgent
// jobs, so that they never wait for another job that hangs. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"

namespace ratchet::master {

class FileThreads {
 public:
  struct Job {
    std::function<void()> run;
    std::function<void()> drop;  // called instead of `run` after Stop, or if it is refused; may be empty
    bool urgent = false;
  };
  struct Options {
    std::string name = "log-sealer";      // threads are "<name>-0", ...
    std::size_t threads = 1;              // for all jobs; one more thread is for urgent jobs only
    std::size_t most_waiting = SIZE_MAX;  // maximum number of queued jobs, urgent ones and others apart
  };
  explicit FileThreads(const Options& options);
  ~FileThreads();  // Stop()
  FileThreads(const FileThreads&) = delete;
  FileThreads& operator=(const FileThreads&) = delete;

  // Returns false if the job is refused, because too many wait or after Stop: then it has been dropped.
  bool Run(Job job);
  // Waits for running jobs, drops queued ones.
  void Stop();

 private:
  void Work(bool urgent_only);

  const std::size_t most_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> urgent_ GUARDED_BY(mutex_);
  std::deque<Job> others_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::master
