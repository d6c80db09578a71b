// Applies a client's change to a table's descriptor. Pure.
//
// Errors have HBase's classes: InvalidFamilyOperationException for a family that is missing or exists already,
// DoNotRetryIOException for an invalid setting.
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
  // kWhole: the new descriptor. Family changes: the table's name and one family. Tracker changes: two attributes and no
  // family, so that an older master, which reads the change as a whole descriptor, refuses it.
  TableDescriptor asked;
};

// Changes of the store file tracker: the attribute kFileTrackerKey names the tracker, this attribute names the family.
inline constexpr std::string_view kTrackerFamilyKey = "family";
// `family`: nullopt changes the tracker of the table.
[[nodiscard]] SchemaChange TrackerChange(const TableName& table, const std::optional<std::string>& family,
                                         const std::string& tracker);

// Returns the changed descriptor after checks; attributes that clients do not send keep their values. `sanity_checks`:
// see table_sanity.h.
[[nodiscard]] Result<TableDescriptor> ChangedDescriptor(const TableDescriptor& now, const SchemaChange& change,
                                                        bool sanity_checks);
// S49 (re-added family is new): records in `changed`, which procedure `by` makes from `now`, which families differ from
// dropped families of the same name. Overwrites what a client has sent there.
void SetFamilyIds(const TableDescriptor& now, ProcId by, TableDescriptor& changed);

// For log lines and descriptions, such as "adds family g".
[[nodiscard]] std::string DescribeChange(const SchemaChange& change);

}  // namespace ratchet::master
