#include "regionserver/store/disk_room.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {

Result<DiskRoom::Share> DiskRoom::Take(io::Directory& directory, std::uint64_t bytes) {
  RATCHET_ASSIGN(const std::uint64_t free, directory.FreeBytes());
  MutexLock lock(mutex_);
  const std::uint64_t wanted = taken_ + bytes;
  if (free < keep_free_ + wanted && !RATCHET_MUTANT("region.compact_without_room"))
    return Error(Code::kNoSpace,
                 fmt::format("a compaction may write {} bytes, running ones {}, and {} are kept for flushes and "
                             "logs, but only {} are free on the disk",
                             bytes, taken_, keep_free_.Get(), free));
  taken_ = wanted;
  return Share(*this, directory, bytes);
}

Status DiskRoom::CheckLast(io::Directory& directory) {
  RATCHET_ASSIGN(const std::uint64_t free, directory.FreeBytes());
  if (free >= kLast) return Ok();
  return Error(Code::kNoSpace, fmt::format("only {} bytes are free on the disk", free));
}

void DiskRoom::GiveBack(std::uint64_t bytes) {
  MutexLock lock(mutex_);
  taken_ -= bytes;
}

DiskRoom::Share::~Share() {
  if (room_ != nullptr) room_->GiveBack(left_);
}

Status DiskRoom::Share::Wrote(std::uint64_t bytes) {
  const std::uint64_t written = std::min(bytes, left_);
  left_ -= written;
  room_->GiveBack(written);
  RATCHET_ASSIGN(const std::uint64_t free, directory_->FreeBytes());
  if (free >= room_->keep_free_ || RATCHET_MUTANT("region.compact_without_room")) return Ok();
  return Error(Code::kNoSpace,
               fmt::format("other writers have used the space of a compaction: {} bytes are free on the disk, "
                           "and {} are kept for flushes and logs",
                           free, room_->keep_free_.Get()));
}

}  // namespace ratchet::regionserver
