// Makes sure that an append fits on the disk before it is begun, so that a full disk refuses work instead of ending the
// process in the middle of it (S6).
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Of one file, used by its writer only.
class SpaceReserve {
 public:
  // `reserved`: bytes that the file owns already. It grows by at least `step`.
  SpaceReserve(std::uint64_t reserved, std::uint64_t step) : reserved_(reserved), step_(step) {}

  // kNoSpace: nothing was written, the file is as it was.
  Status Ensure(io::WritableFile& file, std::uint64_t end) {
    if (end <= reserved_) return Ok();
    // A large step may fail where what is needed still fits.
    for (const std::uint64_t wanted : {std::max(end, reserved_ + step_), end}) {
      const Status reserved = file.Preallocate(wanted);
      if (reserved.ok()) {
        reserved_ = wanted;
        return Ok();
      }
      if (reserved.error().code() != Code::kNoSpace) return Ok();  // no such offer here: the append itself will tell
      if (wanted == end) return reserved;
    }
    return Ok();
  }
  // False after Ensure(file, end) on a disk that cannot reserve.
  [[nodiscard]] bool Holds(std::uint64_t end) const { return end <= reserved_; }

 private:
  std::uint64_t reserved_;
  std::uint64_t step_;
};

}  // namespace ratchet::regionserver
