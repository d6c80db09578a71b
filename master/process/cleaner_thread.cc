#include "master/process/cleaner_thread.h"

#include "common/base/log.h"
#include "common/base/thread_name.h"

namespace ratchet::master {

CleanerThread::CleanerThread(FileRetirer& retirer, ArchiveCleaner& cleaner, StrayLogs& stray_logs, Millis interval)
    : retirer_(retirer), cleaner_(cleaner), stray_logs_(stray_logs), interval_(interval), thread_([this] { Run(); }) {}

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
    RunOnce();
  }
}

void CleanerThread::RunOnce() {
  const auto stray = stray_logs_.RunOnce();
  if (!stray.ok()) RATCHET_LOG(kWarn, "Looking for logs of servers that never registered: {}", stray.error().ToString());
  if (stray.ok())
    for (const ServerName& server : *stray) RATCHET_LOG(kInfo, "Retired the logs of {}, which never registered", server.ToString());
  const auto retired = retirer_.RunOnce();
  if (!retired.ok()) RATCHET_LOG(kWarn, "Retiring files: {}", retired.error().ToString());
  if (retired.ok())
    for (const std::string& path : *retired) RATCHET_LOG(kInfo, "Retired {}", path);
  const auto deleted = cleaner_.RunOnce();
  if (!deleted.ok()) RATCHET_LOG(kWarn, "Cleaning the archive: {}", deleted.error().ToString());
  if (!deleted.ok()) return;
  for (const std::string& path : *deleted) RATCHET_LOG(kInfo, "Deleted archive/{}", path);
}

}  // namespace ratchet::master
