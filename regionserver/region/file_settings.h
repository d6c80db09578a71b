// Chooses how a table's store files are written, by the families' settings: their compression (COMPRESSION,
// COMPRESSION_COMPACT, COMPRESSION_COMPACT_MAJOR, COMPRESSION_COMPACT_MINOR) and their filter (BLOOMFILTER). Pure.
#pragma once

#include <cstdint>

#include "common/model/table_descriptor.h"
#include "regionserver/store/row_filter.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

enum class FileUse : std::uint8_t { kFlush, kMinorCompaction, kMajorCompaction };

// A setting for the specific use precedes a more general one. A file holds cells of all families, so the strongest
// compression of all families is used. NONE, no setting or an unknown setting: LZ4.
[[nodiscard]] FileCompression CompressionFor(const TableDescriptor& table, FileUse use);

// A file holds cells of all families, so it has a row filter unless every family has NONE. ROWCOL and
// ROWPREFIX_FIXED_LENGTH get a row filter, too. No setting: ROW, as in HBase.
[[nodiscard]] FileFilter FilterFor(const TableDescriptor& table);

}  // namespace ratchet::regionserver
