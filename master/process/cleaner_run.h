// One run of the cleaner's two stages and of the search for logs of servers that never registered. Logs a line for each
// file. Visiting all regions and removing a large tree take long, so do not call it on a timer thread.
#pragma once

#include "master/storage/archive_cleaner.h"
#include "master/storage/file_retirer.h"
#include "master/storage/stray_logs.h"

namespace ratchet::master {

void RunCleaner(StrayLogs& stray_logs, FileRetirer& retirer, ArchiveCleaner& cleaner);

}  // namespace ratchet::master
