// Compression of a store file's blocks. The file records its compression, and every version reads all of these.
#pragma once

#include <cstdint>

namespace ratchet::regionserver {

// In the order of compression ratio, the weakest first.
enum class FileCompression : std::uint8_t { kLz4, kSnappy, kGz, kZstd };

}  // namespace ratchet::regionserver
