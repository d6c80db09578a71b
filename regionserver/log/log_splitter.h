// Splits one sealed log file of a dead server into recovered edits, one file per region (S26).
//
// Output: <region directory>/edits.<server>.<log file>, one final name per (log, region), published by rename from a
// name that is unique per attempt; no directory is ever made. Running it again, or several at once, at any point, gives
// the same. Descriptors, threads' stacks apart, and memory are bounded for any number of regions: the log is read in
// several passes where its regions do not fit into memory together. What an attempt that failed has written is removed
// again.
//
// A region's sequences that fall (S56), damage (S57): nothing that can be read is left out; see log_survey.h.
//
// When everything is published, split.<log file> beside the log says so: a later run finds its work done, even when the
// log is gone or shorter than its seal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

inline constexpr std::string_view kEditsPrefix = "edits.";

struct SplitRequest {
  std::string server;                      // "host,port,startcode" of the dead server, without "-splitting"
  std::string file;                        // "log.0000000003"
  std::uint64_t sealed_length = 0;         // 0: nothing in it counts
  std::uint32_t sealed_crc32c = 0;         // of the first sealed_length bytes
  std::uint64_t sealed_last_sequence = 0;  // record sequence (not a region's) of the last record below the seal
  std::uint64_t attempt_token = 0;         // unique among all attempts of all servers, e.g. random
  // Region -> sequence that its store files are known to cover; edits at or below it are left out.
  std::map<std::string, std::uint64_t, std::less<>> flushed_sequences;
  // Opens a region's directory by its encoded name; kNotFound: the region is gone, its edits are dropped.
  std::function<Result<std::unique_ptr<io::Directory>>(const std::string& region)> open_region;
  // Calls job(0) ... job(count - 1) in any order, several at once if it likes, and returns when all have ended: each
  // region's file waits for syncs of its own, which a disk does many of in the time of one. Empty: one after the other.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& job)> side_by_side;
  // Entries that are held at once. A single region with more goes to its file as it is read.
  std::uint64_t memory_bytes = 64ULL << 20;
};

struct SplitReport {
  std::uint64_t entries = 0;  // read
  std::uint64_t regions = 0;  // that got a file
  std::uint64_t dropped = 0;  // entries of regions that are gone
  std::uint64_t covered = 0;  // entries that store files already cover
  bool already_done = false;
  bool retired = false;  // gone, and nothing is missing: manifests cover all that was in it
};

// `log_directory` is the handle of <server>-splitting. kCorruption names file and offset when the log is damaged below
// its seal or shorter than it: what can be read of it is published, but it does not count as split. kNotFound when it
// is gone without having been split, and is not marked as covered either.
[[nodiscard]] Result<SplitReport> SplitLog(io::Directory& log_directory, const SplitRequest& request);

}  // namespace ratchet::regionserver
