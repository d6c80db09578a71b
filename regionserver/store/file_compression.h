// How the blocks of a store file are compressed. A file says so itself: every version reads every one of these.
#pragma once

#include <cstdint>

namespace ratchet::regionserver {

// By how well they pack, the least first.
enum class FileCompression : std::uint8_t { kLz4, kSnappy, kGz, kZstd };

}  // namespace ratchet::regionserver
