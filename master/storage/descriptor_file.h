// A table's schema on storage: <table directory>/desc.<pid> from CreateTable, with the pid as its number, or
// desc.<number>.<pid> from a modification (S48: schema pinned in the order). The highest number is valid.
//
// File: 4 bytes CRC32C of the rest (little-endian), then a TableSchema message.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

struct DescriptorName {
  std::uint64_t number = 0;
  std::uint64_t writer = 0;  // pid
  std::string file;
  auto operator<=>(const DescriptorName&) const = default;  // the newer descriptor is greater
};

[[nodiscard]] std::string DescriptorFileName(std::uint64_t number, ProcId writer);
// Returns nullopt if the name is not the name of a descriptor file.
[[nodiscard]] std::optional<DescriptorName> ParseDescriptorFileName(std::string_view name);

[[nodiscard]] std::string EncodeDescriptorFile(const TableDescriptor& descriptor);
// kCorruption: checksum mismatch or invalid content.
[[nodiscard]] Result<TableDescriptor> DecodeDescriptorFile(std::string_view bytes);

}  // namespace ratchet::master
