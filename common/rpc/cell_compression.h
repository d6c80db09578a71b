// Compressed cell blocks, in the forms of Hadoop's codecs, which clients name by their Java classes
// (hbase.client.rpc.compressor). Pure.
//
// Gzip, zlib and zstd are streams. Snappy and LZ4 come in blocks. Each block begins with four bytes (big-endian), its
// decompressed length. Chunks follow, each after four bytes with its length, until that length is reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::rpc {

enum class CellCompression : std::uint8_t { kNone, kGzip, kZlib, kSnappy, kLz4, kZstd };

// Empty: none. nullopt: a class that is not supported.
[[nodiscard]] std::optional<CellCompression> CompressionOf(std::string_view java_class);

// kInternal: the library refuses.
[[nodiscard]] Result<std::string> Compress(CellCompression compression, std::string_view bytes);

// Reserves memory before it is allocated. Without functions there is always room.
struct DecompressionRoom {
  std::function<bool(std::size_t bytes)> take{};  // false: there is no room
  std::function<void(std::size_t bytes)> give{};
};
// DoNotRetryIOException: malformed. RequestTooBigException: it would have more than `most` bytes; never more than that
// are held, whatever length the bytes announce. CallQueueTooBigException: no room. Memory is taken from `room` step by
// step, each step before it is allocated. The result's capacity remains taken; after an error the caller must return
// what was taken.
[[nodiscard]] Result<std::string> Decompress(CellCompression compression, std::string_view bytes, std::size_t most,
                                             const DecompressionRoom& room = {});

}  // namespace ratchet::rpc
