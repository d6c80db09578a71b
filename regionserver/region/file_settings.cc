#include "regionserver/region/file_settings.h"

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

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::optional<FileCompression> Named(const FamilyDescriptor& family, std::string_view key) {
  const std::string* const text = FindSetting(family.attributes, family.configuration, key);
  if (text == nullptr) return std::nullopt;
  const std::string upper = Upper(*text);
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

bool HasFilter(const FamilyDescriptor& family) {
  const std::string* const text = FindSetting(family.attributes, family.configuration, "BLOOMFILTER");
  return text == nullptr || Upper(*text) != "NONE";
}

}  // namespace

FileCompression CompressionFor(const TableDescriptor& table, FileUse use) {
  FileCompression best = FileCompression::kLz4;
  for (const FamilyDescriptor& family : table.families) best = std::max(best, OfFamily(family, use));
  return best;
}

FileFilter FilterFor(const TableDescriptor& table) {
  return std::any_of(table.families.begin(), table.families.end(), HasFilter) ? FileFilter::kRow : FileFilter::kNone;
}

}  // namespace ratchet::regionserver
