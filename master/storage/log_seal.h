// Measures a dead server's logs, so that all splitters read the same bytes (rules S3: durable fence mark; S26: split up
// to the seal).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "master/env/orders.h"

namespace ratchet::master {

// `directory`: of the fenced `server` ("host,port,startcode"). Syncs the directory and each log, then reads and
// measures each log. Skips logs without a valid file header, which have no acknowledged writes, and logs that manifests
// cover (S32: two-stage cleaner). A damaged log is sealed unchanged, so that its split fails and names the place (S57:
// damaged log is split as far as readable), and the splits of other logs do not wait for it. Memory does not grow with
// the logs. kNotFound: a log was removed meanwhile; repeat the call.
//
// The call also notes which regions the entries of a log name (S171: seal makes an index). Each region is noted at the
// first log that names it. This is unknown for all logs if it is unknown for one that is not hbase:meta's: the log is
// damaged or missing, an operator has accepted its loss, an entry cannot be read, or there are more names than
// kMostIndexedBytes.
//
// A log that was made and no longer exists is sealed as missing (S119: made logs are required): by the mark made.<log>,
// or by `owner` for the first log of a server of an earlier version, which leaves no such mark.
constexpr std::size_t kMostIndexedBytes = std::size_t{1} << 20;
[[nodiscard]] Result<std::vector<SealedLog>> SealDirectory(io::Directory& directory, const std::string& server,
                                                           const LogOwner& owner = {});

// Returns the sealed logs among `names`, of a dead server's directory, that no splitter has finished and no manifest
// covers. Empty, unless an operator has bypassed their splits.
[[nodiscard]] std::vector<std::string> UnsplitLogs(const std::vector<std::string>& names,
                                                   const std::vector<SealedLog>& sealed);

// Truncates preallocated space after all sealed logs were split. A sealed log keeps exactly its sealed length, a log
// without a header becomes empty, and other logs are unchanged. `check`: the epoch CHECK, before each change.
[[nodiscard]] Status GiveBackUnusedSpace(io::Directory& directory, const std::vector<SealedLog>& sealed,
                                         const std::function<Status()>& check);

}  // namespace ratchet::master
