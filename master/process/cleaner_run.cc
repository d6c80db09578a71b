#include "master/process/cleaner_run.h"

#include "common/base/log.h"

namespace ratchet::master {

void RunCleaner(StrayLogs& stray_logs, FileRetirer& retirer, ArchiveCleaner& cleaner) {
  const auto stray = stray_logs.RunOnce();
  if (!stray.ok())
    RATCHET_LOG(kWarn, "Cannot check the logs of servers that never registered: {}", stray.error().ToString());
  if (stray.ok())
    for (const ServerName& server : *stray)
      RATCHET_LOG(kInfo, "Retired the logs of {}, which never registered", server.ToString());
  const auto retired = retirer.RunOnce();
  if (!retired.ok()) RATCHET_LOG(kWarn, "Retiring files: {}", retired.error().ToString());
  if (retired.ok())
    for (const std::string& path : *retired) RATCHET_LOG(kInfo, "Retired {}", path);
  const auto deleted = cleaner.RunOnce();
  if (!deleted.ok()) RATCHET_LOG(kWarn, "Cleaning the archive: {}", deleted.error().ToString());
  if (!deleted.ok()) return;
  for (const std::string& path : *deleted) RATCHET_LOG(kInfo, "Deleted archive/{}", path);
}

}  // namespace ratchet::master
