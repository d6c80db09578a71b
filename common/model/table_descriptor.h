// The schema of a table: its families and settings. Every attribute is kept verbatim, known or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/table_name.h"

namespace ratchet {

using Attributes = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view kOwnerKey = "OWNER";

// HBase's clients write settings of a table or a family into either map: the first counts. Null: the setting is
// missing.
[[nodiscard]] const std::string* FindSetting(const Attributes& attributes, const Attributes& configuration,
                                             std::string_view key);
// Parses an integer as Java does; empty: the text is not a whole number.
[[nodiscard]] std::optional<std::int64_t> WholeNumber(std::string_view text);
// Empty: the setting is missing, or not a whole number.
[[nodiscard]] std::optional<std::int64_t> NumberIn(const Attributes& attributes, std::string_view key);

struct FamilyDescriptor {
  std::string name;
  Attributes attributes;  // "VERSIONS" -> "1", ... texts as HBase writes them
  Attributes configuration;
  // S49 (re-added family is new): distinguishes a family from earlier ones of its name: the pid of the modification
  // that added it after they were dropped. 0: there were none.
  std::uint64_t added_by = 0;

  [[nodiscard]] std::int32_t max_versions() const;  // VERSIONS, 1 when absent
  [[nodiscard]] std::int32_t min_versions() const;  // MIN_VERSIONS, 0 when absent
  // TTL in milliseconds; nullopt: cells never expire (absent or 2147483647 seconds).
  [[nodiscard]] std::optional<std::int64_t> ttl_millis() const;
  [[nodiscard]] bool operator==(const FamilyDescriptor&) const = default;
};

struct TableDescriptor {
  TableName name;
  Attributes attributes;
  Attributes configuration;
  std::vector<FamilyDescriptor> families;      // sorted by name
  std::set<std::string, std::less<>> dropped;  // S49: names of families that the table had and no longer has

  [[nodiscard]] const FamilyDescriptor* Family(std::string_view family) const;  // nullptr when there is none
  // An attribute as a number; nullopt when absent or not a number.
  [[nodiscard]] std::optional<std::int64_t> Number(std::string_view key) const;
  // The user whom the descriptor names as the table's owner (OWNER); empty: none.
  [[nodiscard]] std::string owner() const;
  // Checks that name and families are legal, that there is at least one family, no duplicate, and numbers are in range.
  // kInvalidArgument gives the reason.
  [[nodiscard]] Status Check() const;
  [[nodiscard]] bool operator==(const TableDescriptor&) const = default;
};

// A family with HBase's defaults written out.
[[nodiscard]] FamilyDescriptor DefaultFamily(std::string name);
// hbase:meta: families info, rep_barrier, table.
[[nodiscard]] const TableDescriptor& MetaTableDescriptor();

}  // namespace ratchet
