// Runs the cleaner's two stages now and then, on a thread of its own: walking all regions and removing a large tree take long,
// and timers must not wait for that.
#pragma once

#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "master/files/archive_cleaner.h"
#include "master/files/file_retirer.h"

namespace ratchet::master {

class CleanerThread {
 public:
  // Both must outlive the thread.
  CleanerThread(FileRetirer& retirer, ArchiveCleaner& cleaner, Millis interval);
  ~CleanerThread();  // Stop()
  CleanerThread(const CleanerThread&) = delete;
  CleanerThread& operator=(const CleanerThread&) = delete;
  // Waits for a run that is under way.
  void Stop();

 private:
  void Run();
  void RunOnce();

  FileRetirer& retirer_;
  ArchiveCleaner& cleaner_;
  const Millis interval_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ratchet::master
