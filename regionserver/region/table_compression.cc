#include "regionserver/region/table_compression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ratchet::regionserver {
namespace {

constexpr std::array<std::pair<std::string_view, FileCompression>, 5> kNames{{{"NONE", FileCompression::kLz4},
                                                                              {"LZ4", FileCompression::kLz4},
                                                                              {"SNAPPY", FileCompression::kSnappy},
                                                                              {"GZ", FileCompression::kGz},
                                                                              {"ZSTD", FileCompression::kZstd}}};

std::optional<FileCompression> Named(const FamilyDescriptor& family, std::string_view key) {
  const std::string* const text = FindSetting(family.attributes, family.configuration, key);
  if (text == nullptr) return std::nullopt;
  std::string upper(*text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& [name, compression] : kNames) {
    if (name == upper) return compression;
  }
  return std::nullopt;
}

FileCompression OfFamily(const FamilyDescriptor& family, FileUse use) {
  std::optional<FileCompression> found;
  if (use == FileUse::kMajorCompaction) found = Named(family, "COMPRESSION_COMPACT_MAJOR");
  if (use == FileUse::kMinorCompaction) found = Named(family, "COMPRESSION_COMPACT_MINOR");
  if (!found && use != FileUse::kFlush) found = Named(family, "COMPRESSION_COMPACT");
  if (!found) found = Named(family, "COMPRESSION");
  return found.value_or(FileCompression::kLz4);
}

}  // namespace

FileCompression CompressionFor(const TableDescriptor& table, FileUse use) {
  FileCompression best = FileCompression::kLz4;
  for (const FamilyDescriptor& family : table.families) best = std::max(best, OfFamily(family, use));
  return best;
}

}  // namespace ratchet::regionserver
