// Chooses the compression of a table's store files from the families' settings COMPRESSION, COMPRESSION_COMPACT,
// COMPRESSION_COMPACT_MAJOR and COMPRESSION_COMPACT_MINOR. Pure.
#pragma once

#include <cstdint>

#include "common/model/table_descriptor.h"
#include "regionserver/store/file_compression.h"

namespace ratchet::regionserver {

enum class FileUse : std::uint8_t { kFlush, kMinorCompaction, kMajorCompaction };

// A setting for the specific use precedes a more general one. A file holds cells of all families, so the strongest
// compression of all families is used. NONE, no setting or an unknown setting: LZ4.
[[nodiscard]] FileCompression CompressionFor(const TableDescriptor& table, FileUse use);

}  // namespace ratchet::regionserver
