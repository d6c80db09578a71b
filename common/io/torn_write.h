// Whether what stands at the end of a file can be what a crash has left of one record that was being written into zeros.
//
// A disk writes sectors of 512 bytes whole or not at all, a file system pages. So a record of which a part was written lacks at least
// one sector, and there the zeros still stand. A record that lacks none was written whole, and was synced perhaps: if its checksum is
// wrong, it is damaged, and was not torn. A pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ratchet::io {

inline constexpr std::size_t kSectorSize = 512;

// `bytes`: the whole file; at `offset` a record that is not good begins.
[[nodiscard]] bool CouldBeTorn(std::string_view bytes, std::uint64_t offset);

}  // namespace ratchet::io
