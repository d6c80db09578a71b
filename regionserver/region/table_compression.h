// Which compression a table's store files get, by the families' settings COMPRESSION, COMPRESSION_COMPACT,
// COMPRESSION_COMPACT_MAJOR and COMPRESSION_COMPACT_MINOR. Pure.
#pragma once

#include <cstdint>

#include "common/model/table_descriptor.h"
#include "regionserver/store/file_compression.h"

namespace ratchet::regionserver {

enum class FileUse : std::uint8_t { kFlush, kMinorCompaction, kMajorCompaction };

// A setting of the use counts before one that is more general. A file holds cells of all families, so the family whose
// compression packs best decides. NONE, no setting, or one that is not known: LZ4.
[[nodiscard]] FileCompression CompressionFor(const TableDescriptor& table, FileUse use);

}  // namespace ratchet::regionserver
