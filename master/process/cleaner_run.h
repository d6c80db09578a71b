// One run of the cleaner's two stages and of the search for logs of servers that never registered. Logs a line for each
// file. Visiting all regions and removing a large tree take long, so do not call it on a timer thread.
#pragma once

#include "master/files/archive_cleaner.h"
#include "master/files/file_retirer.h"
#include "master/files/stray_logs.h"

namespace ratchet::master {

void RunCleaner(StrayLogs& stray_logs, FileRetirer& retirer, ArchiveCleaner& cleaner);

}  // namespace ratchet::master
