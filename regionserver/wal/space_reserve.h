// Makes sure that an append fits on the disk before the append begins. So a full disk refuses work instead of ending
// the process in the middle of a write (S6: failed sync ends the process).
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Serves one file, and is used by the file's writer only.
class SpaceReserve {
 public:
  // `reserved`: bytes that the file has already. The reservation grows by at least `step`.
  SpaceReserve(std::uint64_t reserved, std::uint64_t step) : reserved_(reserved), step_(step) {}

  // kNoSpace: the file is unchanged.
  Status Ensure(io::WritableFile& file, std::uint64_t end) {
    if (end <= reserved_) return Ok();
    // A large step may fail although the needed bytes still fit.
    for (const std::uint64_t wanted : {std::max(end, reserved_ + step_), end}) {
      const Status reserved = file.Preallocate(wanted);
      if (reserved.ok()) {
        reserved_ = wanted;
        return Ok();
      }
      // preallocation is not supported; the append reports errors
      if (reserved.error().code() != Code::kNoSpace) return Ok();
      if (wanted == end) return reserved;
    }
    return Ok();
  }
  // Returns false after Ensure(file, end) on a disk that cannot reserve.
  [[nodiscard]] bool Holds(std::uint64_t end) const { return end <= reserved_; }

 private:
  std::uint64_t reserved_;
  std::uint64_t step_;
};

}  // namespace ratchet::regionserver
