// Splits one sealed log file of a dead server into recovered edits, one file per region (S26: split up to the seal).
//
// Output: <region directory>/edits.<server>.<log file>, one final name per (log, region), published by rename from a
// name that is unique per attempt; no directory is ever made. Repeated and concurrent runs give the same result.
// Descriptors and memory (except the threads' stacks) are bounded for any number of regions: if the regions do not fit
// into memory together, the log is read in several passes. The files of one pass share their syncs (S142: shared syncs
// of a split). A failed attempt removes its files.
//
// All readable entries are published, even when a region's sequences fall (S56: falling sequences are replayed) or the
// log is damaged (S57: damaged log is split as far as readable); see log_survey.h.
//
// When everything is published, the file split.<log file> next to the log records it: a later run finds its work done,
// even when the log is gone or shorter than its seal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

inline constexpr std::string_view kEditsPrefix = "edits.";

// Makes many changes durable at once (S142: shared syncs of a split).
class SharedSync {
 public:
  struct Change {
    io::Directory* directory = nullptr;
    std::string file;  // its bytes; empty: the names in the directory
  };
  virtual ~SharedSync() = default;
  [[nodiscard]] virtual bool Covers(io::Directory& directory) const = 0;
  // Makes durable the changes that were made before the call. The object covers their directories.
  [[nodiscard]] virtual Status Sync(const std::vector<Change>& changes) const = 0;
};

struct SplitRequest {
  std::string server;               // "host,port,startcode" of the dead server, without "-splitting"
  std::string file;                 // "log.0000000003"
  std::uint64_t sealed_length = 0;  // 0: the file has no valid record
  std::uint32_t sealed_crc32c = 0;  // of the first sealed_length bytes
  // record sequence (not a region's sequence) of the last record below the seal
  std::uint64_t sealed_last_sequence = 0;
  std::uint64_t attempt_token = 0;  // unique among all attempts of all servers, e.g. random
  // Region -> sequence that its store files are known to cover; edits at or below it are left out.
  std::map<std::string, std::uint64_t, std::less<>> flushed_sequences;
  // Opens a region's directory by its encoded name. kNotFound: the directory is missing.
  std::function<Result<std::unique_ptr<io::Directory>>(const std::string& region)> open_region;
  // S116 (missing directory is not evidence): opens the directory that keeps the edits of a region without a directory.
  // `last_sequence` is the greatest sequence of its entries in this log, or UINT64_MAX where its sequences fall. Null:
  // the region is known to be gone, or to need none of these entries, and they are dropped. Without this function the
  // split fails.
  std::function<Result<std::unique_ptr<io::Directory>>(const std::string& region, std::uint64_t last_sequence)>
      keep_edits;
  // Calls job(0) ... job(count - 1) in any order, several concurrently if possible, and returns when all have ended.
  // Each region's file waits for its own syncs, and a disk does many concurrent syncs in the time of one. Empty: jobs
  // run one after the other.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& job)> side_by_side;
  // Made before the first write of the split. Null: each file and directory is synced by itself. With it, the
  // directories of the regions of one pass are open at the same time, so they should be light ones (light_directory.h).
  const SharedSync* shared_sync = nullptr;
  // Memory limit for buffered entries. A single region with more goes to its file as it is read.
  std::uint64_t memory_bytes = 64ULL << 20;
};

struct SplitReport {
  std::uint64_t entries = 0;      // entries read
  std::uint64_t regions = 0;      // regions that got a file
  std::uint64_t dropped = 0;      // entries of regions that are gone
  std::uint64_t covered = 0;      // entries that store files already cover
  std::vector<std::string> kept;  // regions with a missing directory, whose edits are kept elsewhere
  bool already_done = false;
  bool retired = false;  // the log is gone and nothing is missing, because manifests cover all of it
};

// `log_directory` is the handle of <server>-splitting. kCorruption names file and offset when the log is damaged below
// its seal or shorter than it: its readable entries are published, but it does not count as split. kNotFound when the
// log is gone, was not split, and is not marked as covered.
[[nodiscard]] Result<SplitReport> SplitLog(io::Directory& log_directory, const SplitRequest& request);

}  // namespace ratchet::regionserver
