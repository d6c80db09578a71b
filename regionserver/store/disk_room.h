// Disk space for compactions, which can wait, in competition with flushes, logs and the procedure store, which cannot
// (S90: compactions leave space).
//
// A compaction reserves space for its maximum output before it begins, and checks again as it writes, because other
// processes write too. Without space it fails with kNoSpace, leaves no file, and is retried later. A flush frees space
// (its log can be deleted), so it always begins, and stops only before the last bytes of the disk.
//
// Owner: shared by the server's regions. Thread-safe; a share is used by one thread and does not outlive its DiskRoom.
#pragma once

#include <cstdint>
#include <utility>

#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

struct DiskRoomOptions {
  Live<std::uint64_t> keep_free{128U << 20};  // bytes

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBytes(
        {"keep-free-bytes",
         "Disk space that compactions leave free for flushes and logs; a compaction that may need it waits.",
         {}},
        &keep_free, 0, 1ull << 50);
  }
};

class DiskRoom {
 public:
  // `keep_free` is the number of bytes that compactions leave free.
  explicit DiskRoom(Live<std::uint64_t> keep_free) : keep_free_(std::move(keep_free)) {}

  class Share {
   public:
    Share(Share&& other) noexcept
        : room_(std::exchange(other.room_, nullptr)), directory_(other.directory_), left_(other.left_) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();
    // Records that `bytes` more were written. kNoSpace: other writers have used the space meanwhile.
    [[nodiscard]] Status Wrote(std::uint64_t bytes);

   private:
    friend class DiskRoom;
    Share(DiskRoom& room, io::Directory& directory, std::uint64_t left)
        : room_(&room), directory_(&directory), left_(left) {}
    DiskRoom* room_;
    io::Directory* directory_;
    std::uint64_t left_;  // reserved and not written yet
  };
  // Reserves space for a file of up to `bytes` in `directory`, which outlives the share. kNoSpace: there is not enough
  // space now.
  [[nodiscard]] Result<Share> Take(io::Directory& directory, std::uint64_t bytes) EXCLUDES(mutex_);
  // Called in the middle of a flush. kNoSpace: the rest of the disk is kept for records, which take a few bytes each.
  [[nodiscard]] static Status CheckLast(io::Directory& directory);

  // Bytes written between two checks of the disk.
  static constexpr std::uint64_t kStep = 1U << 20;
  static constexpr std::uint64_t kLast = 4U << 20;

 private:
  void GiveBack(std::uint64_t bytes) EXCLUDES(mutex_);

  const Live<std::uint64_t> keep_free_;
  Mutex mutex_;
  std::uint64_t taken_ GUARDED_BY(mutex_) = 0;  // reserved by all shares, not written yet
};

}  // namespace ratchet::regionserver
