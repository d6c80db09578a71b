#include "common/model/table_descriptor.h"

#include <algorithm>
#include <charconv>

#include "common/model/cell.h"

namespace ratchet {
namespace {

constexpr std::int64_t kForeverSeconds = INT32_MAX;

}  // namespace

const std::string* FindSetting(const Attributes& attributes, const Attributes& configuration, std::string_view key) {
  if (const auto found = attributes.find(key); found != attributes.end()) return &found->second;
  const auto found = configuration.find(key);
  return found == configuration.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> NumberIn(const Attributes& attributes, std::string_view key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? std::nullopt : WholeNumber(found->second);
}

namespace {

Status CheckNumber(const FamilyDescriptor& family, std::string_view key, std::int64_t low) {
  if (!family.attributes.contains(key)) return Ok();
  const auto number = NumberIn(family.attributes, key);
  if (number.has_value() && *number >= low && *number <= INT32_MAX) return Ok();
  return Error(Code::kInvalidArgument, fmt::format("family {}: {} = '{}' is not a number from {} to {}", family.name,
                                                   key, family.attributes.find(key)->second, low, INT32_MAX));
}

Status CheckFamily(const FamilyDescriptor& family) {
  const std::string& name = family.name;
  if (name.empty() || name.size() > kMaxFamilyLength) {
    return Error(Code::kInvalidArgument, fmt::format("family name '{}' of {} bytes: 1 to {} bytes",
                                                     name.substr(0, kMaxFamilyLength), name.size(), kMaxFamilyLength));
  }
  const bool printable = std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > 0x20 && c != 0x7f; });
  if (!printable || name.front() == '.' || name.find_first_of(":/\\") != std::string::npos) {
    return Error(Code::kInvalidArgument,
                 fmt::format("illegal family name '{}': no ':', '/', '\\', blanks or leading '.'", name));
  }
  if (name == "recovered.edits") return Error(Code::kInvalidArgument, "family name 'recovered.edits' is reserved");
  RATCHET_TRY(CheckNumber(family, "VERSIONS", 1));
  RATCHET_TRY(CheckNumber(family, "MIN_VERSIONS", 0));
  RATCHET_TRY(CheckNumber(family, "TTL", 1));
  if (family.min_versions() > family.max_versions()) {
    return Error(Code::kInvalidArgument, fmt::format("family {}: MIN_VERSIONS {} above VERSIONS {}", name,
                                                     family.min_versions(), family.max_versions()));
  }
  return Ok();
}

}  // namespace

std::int32_t FamilyDescriptor::max_versions() const {
  return static_cast<std::int32_t>(NumberIn(attributes, "VERSIONS").value_or(1));
}

std::int32_t FamilyDescriptor::min_versions() const {
  return static_cast<std::int32_t>(NumberIn(attributes, "MIN_VERSIONS").value_or(0));
}

std::optional<std::int64_t> FamilyDescriptor::ttl_millis() const {
  const std::int64_t seconds = NumberIn(attributes, "TTL").value_or(kForeverSeconds);
  if (seconds >= kForeverSeconds) return std::nullopt;
  return seconds * 1000;
}

const FamilyDescriptor* TableDescriptor::Family(std::string_view family) const {
  for (const FamilyDescriptor& candidate : families) {
    if (candidate.name == family) return &candidate;
  }
  return nullptr;
}

std::string TableDescriptor::owner() const {
  const auto found = attributes.find(kOwnerKey);
  return found == attributes.end() ? std::string() : found->second;
}

std::optional<std::int64_t> TableDescriptor::Number(std::string_view key) const { return NumberIn(attributes, key); }

Status TableDescriptor::Check() const {
  RATCHET_TRY(name.Check());
  if (families.empty()) {
    return Error(Code::kInvalidArgument, fmt::format("table {} must have at least one column family", name.ToString()));
  }
  for (std::size_t i = 0; i < families.size(); ++i) {
    RATCHET_TRY(CheckFamily(families[i]));
    for (std::size_t j = 0; j < i; ++j) {
      if (families[j].name == families[i].name) {
        return Error(Code::kInvalidArgument, fmt::format("family '{}' is given twice", families[i].name));
      }
    }
  }
  return Ok();
}

FamilyDescriptor DefaultFamily(std::string name) {
  FamilyDescriptor family;
  family.name = std::move(name);
  family.attributes = {
      {"VERSIONS", "1"},       {"MIN_VERSIONS", "0"},           {"TTL", "2147483647"},           {"BLOCKSIZE", "65536"},
      {"BLOCKCACHE", "true"},  {"IN_MEMORY", "false"},          {"KEEP_DELETED_CELLS", "FALSE"}, {"BLOOMFILTER", "ROW"},
      {"COMPRESSION", "NONE"}, {"DATA_BLOCK_ENCODING", "NONE"}, {"REPLICATION_SCOPE", "0"}};
  return family;
}

const TableDescriptor& MetaTableDescriptor() {
  static const TableDescriptor* const kMeta = [] {
    auto* table = new TableDescriptor;
    table->name = MetaTableName();
    table->attributes["IS_META"] = "true";
    for (const char* family : {"info", "rep_barrier", "table"}) {
      table->families.push_back(DefaultFamily(family));
      table->families.back().attributes["VERSIONS"] = "3";
      table->families.back().attributes["IN_MEMORY"] = "true";
    }
    return table;
  }();
  return *kMeta;
}

}  // namespace ratchet
