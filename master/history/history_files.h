// The files below <root>/history: records in append-only segments, named by the epoch of the master that writes them.
//
// A master creates segments of its own epoch only, exclusively, and never writes into another one's. So a deposed
// master can damage nothing: what it still writes stands in files of its own epoch, and what it still removes was too
// old or too much by the rule that holds for all. A segment's end may be torn (the last entries of a killed machine);
// damage further in is named and skipped.
//
// Owner: HistoryBook. Not thread-safe but for what says so.
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
  std::int64_t first_ms = 0;  // wall clock of its entries; 0: it has none
  std::int64_t last_ms = 0;
  std::string problem;  // empty: it could be read as a whole
};

class HistoryFiles {
 public:
  // `directory`: <root>/history. Nothing is read or written yet.
  HistoryFiles(std::unique_ptr<io::Directory> directory, Epoch epoch);
  ~HistoryFiles();

  // Reads every segment that is there, once: `visit` gets each record, the oldest first. kIo: the directory cannot be
  // listed; a file that cannot be read has a `problem`.
  Status Open(const std::function<void(std::string_view payload)>& visit);
  // kNoSpace: what is left of the disk is for the cluster's own files.
  [[nodiscard]] Status CheckRoom() const;
  // Begins a segment where there is none, or the present one is full. After an error the present one is left as it is,
  // and the next call begins another.
  Status Append(std::int64_t at_ms, std::string_view payload);
  // Gives what was appended to the system: readers see it.
  Status Flush();
  // Makes it durable.
  Status Sync();
  // Removes the oldest segments until no more than `bytes` are left and none ended before `oldest_ms`; never the one
  // that is written to. `check` comes before each removal. Returns how many.
  Result<std::size_t> Trim(std::uint64_t bytes, std::int64_t oldest_ms, const std::function<Status()>& check);

  [[nodiscard]] const std::vector<HistorySegment>& segments() const { return segments_; }  // the oldest first
  [[nodiscard]] std::uint64_t bytes() const;

  // Thread-safe: the records of one segment, in order, as far as they can be read. What is wrong with it in words;
  // empty: nothing. kNotFound: it was removed meanwhile.
  Result<std::string> Read(const std::string& name, const std::function<void(std::string_view payload)>& visit) const;

  static constexpr std::uint64_t kSegmentBytes = 4U << 20;  // it is full then
  static constexpr std::uint64_t kKeepFree = 128U << 20;    // of the disk

 private:
  const std::unique_ptr<io::Directory> directory_;
  const Epoch epoch_;
  std::uint64_t number_ = 0;  // of the newest segment of this epoch
  std::uint64_t sequence_ = 0;
  std::unique_ptr<io::RecordWriter> writer_;
  std::vector<HistorySegment> segments_;  // the last one is written to while there is a writer
};

}  // namespace ratchet::master
