#include "master/process/cleaner_thread.h"

#include "common/base/log.h"
#include "common/base/thread_name.h"

namespace ratchet::master {

CleanerThread::CleanerThread(ArchiveCleaner& cleaner, Millis interval)
    : cleaner_(cleaner), interval_(interval), thread_([this] { Run(); }) {}

CleanerThread::~CleanerThread() { Stop(); }

void CleanerThread::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void CleanerThread::Run() {
  SetThreadName("cleaner");
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!stopping_) changed_.WaitFor(mutex_, interval_);
      if (stopping_) return;
    }
    const auto deleted = cleaner_.RunOnce();
    if (!deleted.ok()) {
      RATCHET_LOG(kWarn, "Cleaning the archive: {}", deleted.error().ToString());
      continue;
    }
    for (const std::string& path : *deleted) RATCHET_LOG(kInfo, "Deleted archive/{}", path);
  }
}

}  // namespace ratchet::master
