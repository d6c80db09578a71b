// Decides whether the bytes at the end of a file can be what a crash has left of one record that was being written into
// zeros.
//
// A disk writes sectors of 512 bytes whole or not at all, a file system pages. So a record that was written in part
// lacks at least one sector, which still has the zeros. A record that lacks none was written whole, and perhaps synced:
// if its checksum is wrong, it is damaged, not torn. A pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/io/log_bytes.h"

namespace ratchet::io {

inline constexpr std::size_t kSectorSize = 512;

// `bytes`: the whole file; at `offset` a record that is not good begins.
[[nodiscard]] bool CouldBeTorn(LogBytes& bytes, std::uint64_t offset);

// For a log with records of any content: true if the bad record at `offset` was certainly written to its end, so that
// no crash has made it bad, S81 (whole bad record is damage). In doubt false. A record that a crash can leave, and
// that is therefore not whole, has:
//   - a sector that is all zeros: it was lost (or the payload has such a sector: in doubt);
//   - zero as its last byte: a write that ended early, at any byte, as a full disk or a limit of file sizes does (or
//     the payload ends so);
//   - an end after the file's end: the file is shorter, or its length was written before its data;
//   - blocks that were never written before: some file systems show older bytes there. Only where the file was filled
//     ahead with zeros, or the record is in a page that had durable bytes already, its bytes are trusted.
// A flipped bit in the length may make a record look longer than it is, and torn: the function errs on that side.
[[nodiscard]] bool WasWrittenWhole(LogBytes& bytes, std::uint64_t offset);

}  // namespace ratchet::io
