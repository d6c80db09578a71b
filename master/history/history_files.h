// The files below <root>/history: records in append-only segments, named by the epoch of the master that writes them.
//
// A master creates segments of its own epoch only, exclusively, and never writes into a segment of another master. So a
// deposed master cannot damage the history: its late writes are in files of its own epoch, and its late removals follow
// the same limits. A segment's end may be torn by a power failure; other damage is reported and skipped.
//
// Owner: HistoryBook. Not thread-safe, except where noted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"

namespace ratchet::master {

inline constexpr const char* kHistoryFolder = "history";  // below the root

struct HistorySegment {
  std::string name;  // "e0000000000000012-00000003": epoch, number
  std::uint64_t bytes = 0;
  std::int64_t first_ms = 0;  // wall clock of its entries; 0 if it has none
  std::int64_t last_ms = 0;
  std::string problem;  // description of damage; empty if there is none
};

class HistoryFiles {
 public:
  // `directory`: <root>/history. The constructor reads and writes no files.
  HistoryFiles(std::unique_ptr<io::Directory> directory, Epoch epoch);
  ~HistoryFiles();

  // Reads every existing segment once: `visit` gets each record, the oldest first. kIo: the directory cannot be listed.
  // HistorySegment::problem is set for a file that cannot be read.
  Status Open(const std::function<void(std::string_view payload)>& visit);
  // kNoSpace: the rest of the disk is reserved for the cluster's own files.
  [[nodiscard]] Status CheckRoom() const;
  // Appends a record. Begins a segment if there is none or the current one is full. After an error the current segment
  // is not written again, and the next call begins another.
  Status Append(std::int64_t at_ms, std::string_view payload);
  // Passes appended records to the operating system, so that readers see them.
  Status Flush();
  // Makes appended records durable.
  Status Sync();
  // Removes the oldest segments until at most `bytes` are left and none ended before `oldest_ms`; never the segment
  // that is being written. `check` runs before each removal. Returns the number of removed segments.
  Result<std::size_t> Trim(std::uint64_t bytes, std::int64_t oldest_ms, const std::function<Status()>& check);

  [[nodiscard]] const std::vector<HistorySegment>& segments() const { return segments_; }  // the oldest first
  [[nodiscard]] std::uint64_t bytes() const;

  // Thread-safe: passes the readable records of one segment to `visit`, in order. Returns a description of damage;
  // empty if there is none. kNotFound: the segment was removed meanwhile.
  Result<std::string> Read(const std::string& name, const std::function<void(std::string_view payload)>& visit) const;

  static constexpr std::uint64_t kSegmentBytes = 4U << 20;  // size of a full segment
  static constexpr std::uint64_t kKeepFree = 128U << 20;    // free disk space that is not used

 private:
  const std::unique_ptr<io::Directory> directory_;
  const Epoch epoch_;
  std::uint64_t number_ = 0;  // of the newest segment of this epoch
  std::uint64_t sequence_ = 0;
  std::unique_ptr<io::RecordWriter> writer_;
  std::vector<HistorySegment> segments_;  // `writer_`, if any, writes to the last one
};

}  // namespace ratchet::master
