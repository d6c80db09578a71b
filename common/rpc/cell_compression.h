// Compressed cell blocks, in the forms of Hadoop's codecs, which clients name by their Java classes
// (hbase.client.rpc.compressor). Pure.
//
// Gzip, zlib and zstd are streams. Snappy and LZ4 come in blocks: for each, four bytes (big-endian) say how many bytes
// it has when it is decompressed, then chunks follow, each behind four bytes that say how long it is, until there are
// so many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::rpc {

enum class CellCompression : std::uint8_t { kNone, kGzip, kZlib, kSnappy, kLz4, kZstd };

// Empty: none. nullopt: a class that is not offered.
[[nodiscard]] std::optional<CellCompression> CompressionOf(std::string_view java_class);

// kInternal: the library refuses.
[[nodiscard]] Result<std::string> Compress(CellCompression compression, std::string_view bytes);
// DoNotRetryIOException: malformed. RequestTooBigException: it would have more than `most` bytes; never more than that
// are held, however few announce them.
[[nodiscard]] Result<std::string> Decompress(CellCompression compression, std::string_view bytes, std::size_t most);

}  // namespace ratchet::rpc
