// Measuring a dead server's logs, so that all splitters read the same bytes (rules S3, S26).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "master/env/orders.h"

namespace ratchet::master {

// `directory`: of the fenced `server` ("host,port,startcode"). Syncs the directory and each log, then reads and
// measures it. Logs without a valid file header hold nothing that was ever acknowledged and are left out, and so are
// those that manifests cover (S32). A damaged log is sealed as it is, so that its split fails and names the place
// (S57), and the others' do not wait for it. Memory does not grow with the logs. kNotFound: a log went away meanwhile,
// look again.
[[nodiscard]] Result<std::vector<SealedLog>> SealDirectory(io::Directory& directory, const std::string& server);

// Of the names in a dead server's directory: sealed logs that no splitter has said to be done with, and that manifests
// do not cover. None, unless an operator has bypassed their splits.
[[nodiscard]] std::vector<std::string> UnsplitLogs(const std::vector<std::string>& names,
                                                   const std::vector<SealedLog>& sealed);

// After everything sealed was split: cuts what was only preallocated. A sealed log keeps exactly what was sealed, a log
// that has not even a header nothing; others stay as they are. `check`: the epoch CHECK, before each change.
[[nodiscard]] Status GiveBackUnusedSpace(io::Directory& directory, const std::vector<SealedLog>& sealed,
                                         const std::function<Status()>& check);

}  // namespace ratchet::master
