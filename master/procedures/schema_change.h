// What becomes of a table's descriptor by a client's request to change it. Pure.
//
// Refusals carry HBase's classes: InvalidFamilyOperationException where a family is missing or is there already,
// DoNotRetryIOException for what no table may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

// Stored (ModifyTableData.Change): numbers never change.
enum class ChangeKind : std::uint8_t {
  kWhole = 1,
  kAddFamily = 2,
  kModifyFamily = 3,
  kDeleteFamily = 4,
  kTableTracker = 5,
  kFamilyTracker = 6
};

[[nodiscard]] constexpr bool IsOfTrackers(ChangeKind kind) {
  return kind == ChangeKind::kTableTracker || kind == ChangeKind::kFamilyTracker;
}

struct SchemaChange {
  ChangeKind kind = ChangeKind::kWhole;
  // kWhole: the new descriptor; else: its name, and the one family. Trackers: two attributes and no family, so that a
  // master before them, which takes the change for a whole descriptor, refuses it.
  TableDescriptor asked;
};

// Changes of the store file tracker: the attribute kFileTrackerKey says which, this one of which family.
inline constexpr std::string_view kTrackerFamilyKey = "family";
// `family`: none of it is of the table.
[[nodiscard]] SchemaChange TrackerChange(const TableName& table, const std::optional<std::string>& family,
                                         const std::string& tracker);

// The descriptor after the change, checked; attributes that clients do not send stay as they are. `sanity_checks`: see
// table_sanity.h.
[[nodiscard]] Result<TableDescriptor> ChangedDescriptor(const TableDescriptor& now, const SchemaChange& change,
                                                        bool sanity_checks);
// S49: `changed`, which procedure `by` makes out of `now`, knows which of its families are others than earlier ones of
// their names. What a client has sent of this is overwritten.
void TellFamiliesApart(const TableDescriptor& now, ProcId by, TableDescriptor& changed);

// For log lines and descriptions: "adds family g"
[[nodiscard]] std::string DescribeChange(const SchemaChange& change);

}  // namespace ratchet::master
