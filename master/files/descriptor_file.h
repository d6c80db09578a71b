// A table's schema on storage: <table directory>/desc.<pid>. The highest number counts.
//
// File: 4 bytes CRC32C of the rest (little-endian), then a TableSchema message.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

[[nodiscard]] std::string DescriptorFileName(ProcId pid);
// Nothing when it is no descriptor's name.
[[nodiscard]] std::optional<ProcId> ParseDescriptorFileName(std::string_view name);

[[nodiscard]] std::string EncodeDescriptorFile(const TableDescriptor& descriptor);
// kCorruption when a byte is wrong.
[[nodiscard]] Result<TableDescriptor> DecodeDescriptorFile(std::string_view bytes);

}  // namespace ratchet::master
