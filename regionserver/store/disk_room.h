// Room on the disk for compactions, which can wait, beside flushes, logs and the procedure store, which cannot (S90).
//
// A compaction takes room for all that it may write before it begins, and looks again as it writes, because other
// processes write too. One that lacks room fails with kNoSpace, leaves nothing, and is tried again later. A flush gives
// room back (its log can go), so it begins always, and only stops before the last bytes.
//
// Owner: shared by the server's regions. Thread-safe; a share is used by one thread and does not outlive its room.
#pragma once

#include <cstdint>
#include <utility>

#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

class DiskRoom {
 public:
  // `keep_free`: bytes of the disk that compactions leave to others.
  explicit DiskRoom(Live<std::uint64_t> keep_free) : keep_free_(std::move(keep_free)) {}

  class Share {
   public:
    Share(Share&& other) noexcept
        : room_(std::exchange(other.room_, nullptr)), directory_(other.directory_), left_(other.left_) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();
    // So many more bytes were written. kNoSpace: others have taken the room meanwhile.
    [[nodiscard]] Status Wrote(std::uint64_t bytes);

   private:
    friend class DiskRoom;
    Share(DiskRoom& room, io::Directory& directory, std::uint64_t left)
        : room_(&room), directory_(&directory), left_(left) {}
    DiskRoom* room_;
    io::Directory* directory_;
    std::uint64_t left_;  // taken and not written yet
  };
  // For a file of up to `bytes` in `directory`, which outlives the share. kNoSpace: there is no room now.
  [[nodiscard]] Result<Share> Take(io::Directory& directory, std::uint64_t bytes) EXCLUDES(mutex_);
  // In the middle of a flush. kNoSpace: what is left of the disk is for records, which take a few bytes each.
  [[nodiscard]] static Status CheckLast(io::Directory& directory);

  // Between two looks at the disk.
  static constexpr std::uint64_t kStep = 1U << 20;
  static constexpr std::uint64_t kLast = 4U << 20;

 private:
  void GiveBack(std::uint64_t bytes) EXCLUDES(mutex_);

  const Live<std::uint64_t> keep_free_;
  Mutex mutex_;
  std::uint64_t taken_ GUARDED_BY(mutex_) = 0;  // by all shares, not written yet
};

}  // namespace ratchet::regionserver
