// Runs the cleaner's two stages, and the search for logs of servers that never registered, now and then, on a thread of its own:
// walking all regions and removing a large tree take long, and timers must not wait for that.
#pragma once

#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "master/files/archive_cleaner.h"
#include "master/files/file_retirer.h"
#include "master/files/stray_logs.h"

namespace ratchet::master {

class CleanerThread {
 public:
  // All must outlive the thread.
  CleanerThread(FileRetirer& retirer, ArchiveCleaner& cleaner, StrayLogs& stray_logs, Millis interval);
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
  StrayLogs& stray_logs_;
  const Millis interval_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ratchet::master
