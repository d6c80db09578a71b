#include "master/policy/table_sanity.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/errors.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kSwitch = "hbase.table.sanity.checks";
constexpr std::string_view kPolicyPackage = "org.apache.hadoop.hbase.regionserver.";

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> choices) {
  return std::find(choices.begin(), choices.end(), text) != choices.end();
}

class TableSanity {
 public:
  explicit TableSanity(const TableDescriptor& table) : table_(table) {}

  void Run() {
    LookAtTable();
    for (const FamilyDescriptor& family : table_.families) LookAtFamily(family);
  }
  std::vector<std::string> refused;  // errors that always refuse the table
  std::vector<std::string> insane;   // errors of HBase's sanity checks

 private:
  const std::string* Of(std::string_view key) const {
    return FindSetting(table_.attributes, table_.configuration, key);
  }

  // `lowest`: the smallest allowed size, unless the attribute `limit_key` overrides it.
  void Size(std::string_view key, std::string_view limit_key, std::int64_t lowest, std::string_view consequence) {
    const std::string* const text = Of(key);
    if (text == nullptr) return;
    if (const std::string* limit = Of(limit_key); limit != nullptr) lowest = WholeNumber(*limit).value_or(lowest);
    const auto size = WholeNumber(*text);
    if (size && *size >= lowest) return;
    insane.push_back(fmt::format("{} for table descriptor ({}) is too small, which might cause {}: at least {}.", key,
                                 *text, consequence, lowest));
  }

  void Policy(std::initializer_list<std::string_view> keys, std::initializer_list<std::string_view> known) {
    for (const std::string_view key : keys) {
      const std::string* const text = Of(key);
      if (text == nullptr || text->empty()) continue;
      const bool ours =
          text->starts_with(kPolicyPackage) && IsOneOf(std::string_view(*text).substr(kPolicyPackage.size()), known);
      if (!ours) insane.push_back(fmt::format("{}: unable to load class {}.", key, *text));
    }
  }

  void LookAtTable() {
    Size("MAX_FILESIZE", "hbase.hregion.max.filesize.limit", 2 << 20,
         "over splitting into unmanageable number of regions");
    Size("MEMSTORE_FLUSHSIZE", "hbase.hregion.memstore.flush.size.limit", 1 << 20, "very frequent flushing");
    Policy({"SPLIT_POLICY", "hbase.regionserver.region.split.policy"},
           {"ConstantSizeRegionSplitPolicy", "IncreasingToUpperBoundRegionSplitPolicy", "SteppingSplitPolicy",
            "KeyPrefixRegionSplitPolicy", "DelimitedKeyPrefixRegionSplitPolicy", "DisabledRegionSplitPolicy",
            "BusyRegionSplitPolicy"});
    Policy({"FLUSH_POLICY", "hbase.regionserver.flush.policy"},
           {"FlushAllStoresPolicy", "FlushAllLargeStoresPolicy", "FlushNonSloppyStoresFirstPolicy"});
    if (const std::string* replicas = Of("REGION_REPLICATION"); replicas != nullptr && WholeNumber(*replicas) != 1) {
      refused.push_back(
          WholeNumber(*replicas).value_or(0) < 1
              ? "Table region replication should be at least one."
              : fmt::format("REGION_REPLICATION => {}: region replicas are not supported; leave it 1.", *replicas));
    }
    for (const auto& [key, value] : table_.attributes) {
      if (!Upper(key).starts_with("COPROCESSOR$")) continue;
      const std::size_t bar = value.find('|');
      std::string name = bar == std::string::npos ? value : value.substr(bar + 1);
      name = name.substr(0, name.find('|'));
      // Every region already serves MultiRowMutationService and AggregateService, which these coprocessors add.
      if (name == "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint" ||
          name == "org.apache.hadoop.hbase.coprocessor.AggregateImplementation")
        continue;
      refused.push_back(fmt::format("coprocessor {}: coprocessors are not supported.", name));
    }
  }

  void LookAtFamily(const FamilyDescriptor& family) {
    const auto of = [&family](std::string_view key) {
      return FindSetting(family.attributes, family.configuration, key);
    };
    const auto number = [&](std::string_view key, std::int64_t low, std::int64_t high, std::string_view rule) {
      const std::string* const text = of(key);
      if (text == nullptr) return;
      const auto value = WholeNumber(*text);
      if (value && *value >= low && *value <= high) return;
      insane.push_back(fmt::format("{} for column family {} {}, and is {}.", key, family.name, rule, *text));
    };
    number("BLOCKSIZE", 1024, 16 << 20, "must be between 1K and 16MB");
    number("REPLICATION_SCOPE", 0, 1, "must be 0 or 1");
    number("DFS_REPLICATION", 0, INT32_MAX, "must not be negative");
    const auto choice = [&](std::string_view key, std::initializer_list<std::string_view> choices,
                            std::string_view instead) {
      const std::string* const text = of(key);
      if (text == nullptr || text->empty() || IsOneOf(Upper(*text), choices)) return;
      refused.push_back(fmt::format("{} => {} of column family {}: {}", key, *text, family.name, instead));
    };
    choice("KEEP_DELETED_CELLS", {"FALSE", "TRUE", "TTL"}, "FALSE, TRUE or TTL.");
    choice("BLOOMFILTER", {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"},
           "NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH.");
    choice("IN_MEMORY_COMPACTION", {"NONE", "BASIC", "EAGER", "ADAPTIVE"}, "NONE, BASIC, EAGER or ADAPTIVE.");
    for (const char* key :
         {"COMPRESSION", "COMPRESSION_COMPACT", "COMPRESSION_COMPACT_MAJOR", "COMPRESSION_COMPACT_MINOR"})
      choice(key, {"NONE", "SNAPPY", "LZ4", "GZ", "ZSTD"}, "NONE, SNAPPY, LZ4, GZ or ZSTD.");
    choice("IS_MOB", {"FALSE"}, "medium objects (MOB) are not supported; leave it false.");
    for (const char* key : {"ENCRYPTION", "ENCRYPTION_KEY"}) {
      if (const std::string* text = of(key); text != nullptr && !text->empty())
        refused.push_back(
            fmt::format("{} of column family {}: encryption is not supported, the cells would be stored unencrypted.",
                        key, family.name));
    }
  }

  const TableDescriptor& table_;
};

}  // namespace

Status CheckTableSettings(const TableDescriptor& table, bool sanity_checks) {
  TableSanity sanity(table);
  sanity.Run();
  if (!sanity.refused.empty()) return IllegalRequest(sanity.refused.front());
  if (const std::string* text = FindSetting(table.attributes, table.configuration, kSwitch); text != nullptr)
    sanity_checks = Upper(*text) == "TRUE";
  if (sanity.insane.empty()) return Ok();
  if (sanity_checks) {
    return IllegalRequest(
        fmt::format("{} Set {} to false at the master (--table-sanity-checks) or in the table descriptor if you want "
                    "to bypass sanity checks",
                    sanity.insane.front(), kSwitch));
  }
  for (const std::string& problem : sanity.insane) RATCHET_LOG(kWarn, "Table {}: {}", table.name.ToString(), problem);
  return Ok();
}

}  // namespace ratchet::master
