// Zero-filled files kept ready: the next segment, and a reserve so that claiming and finishing work on a full disk, S6
// (failed sync ends the process).
//
// A spare is filled under another name, synced, and only then renamed to a spare. It is taken into use by a rename.
// If a claimer and the owner that it deposed want the same spare, one of the two does not find the name and never opens
// the file. Threads: Refill from one background thread, the rest from the writer.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "procedure/store/segment_name.h"

namespace ratchet::procedure {

class SpareSegments {
 public:
  struct Options {
    std::uint64_t bytes = 0;  // size of each spare
    std::size_t count = 0;    // how many to keep; 0: none are made or used
  };
  struct Taken {
    std::unique_ptr<io::WritableFile> file;
    std::uint64_t capacity = 0;  // zero-filled bytes
  };

  SpareSegments(io::Directory& directory, Options options) : directory_(directory), options_(options) {}

  // Remembers the spares that exist (also an earlier owner's). `epoch`: used in the names of later ones.
  Status Adopt(Epoch epoch);

  // Renames a spare to the segment's name and opens it; nullopt when there is none. The caller syncs the directory.
  Result<std::optional<Taken>> Take(SegmentId as);

  // Makes one missing spare, in small synced pieces so that commits are not delayed; true when it made one. Gives up
  // between pieces when `stop` is set. kNoSpace is remembered, see low_on_space.
  Result<bool> Refill(const std::atomic<bool>& stop);

  [[nodiscard]] std::size_t available() const;
  // The last attempt to make a spare found the disk full.
  [[nodiscard]] bool low_on_space() const { return low_on_space_.load(std::memory_order_relaxed); }

 private:
  Status Fill(const std::string& name, const std::atomic<bool>& stop);

  io::Directory& directory_;
  const Options options_;
  Epoch epoch_;
  std::uint64_t next_number_ = 1;
  std::atomic<bool> low_on_space_{false};
  mutable Mutex mutex_;
  std::set<SegmentId> spares_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::procedure
