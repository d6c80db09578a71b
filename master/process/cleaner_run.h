// One run of the cleaner's two stages and of the search for logs of servers that never registered, with a line in the
// log for each file. Walking all regions and removing a large tree take long: not on a thread with timers.
#pragma once

#include "master/files/archive_cleaner.h"
#include "master/files/file_retirer.h"
#include "master/files/stray_logs.h"

namespace ratchet::master {

void RunCleaner(StrayLogs& stray_logs, FileRetirer& retirer, ArchiveCleaner& cleaner);

}  // namespace ratchet::master
