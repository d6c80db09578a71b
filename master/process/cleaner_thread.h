// Runs the archive's cleaner now and then, on a thread of its own: removing a large tree takes long, and timers must
// not wait for it.
#pragma once

#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "master/files/archive_cleaner.h"

namespace ratchet::master {

class CleanerThread {
 public:
  // `cleaner` must outlive the thread.
  CleanerThread(ArchiveCleaner& cleaner, Millis interval);
  ~CleanerThread();  // Stop()
  CleanerThread(const CleanerThread&) = delete;
  CleanerThread& operator=(const CleanerThread&) = delete;
  // Waits for a run that is under way.
  void Stop();

 private:
  void Run();

  ArchiveCleaner& cleaner_;
  const Millis interval_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ratchet::master
