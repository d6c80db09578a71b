// What becomes of a table's descriptor by a client's request to change it. Pure.
//
// Refusals carry HBase's classes: InvalidFamilyOperationException where a family is missing or is there already,
// DoNotRetryIOException for what no table may have.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

// Stored (ModifyTableData.Change): numbers never change.
enum class ChangeKind : std::uint8_t { kWhole = 1, kAddFamily = 2, kModifyFamily = 3, kDeleteFamily = 4 };

struct SchemaChange {
  ChangeKind kind = ChangeKind::kWhole;
  TableDescriptor asked;  // kWhole: the new descriptor; else: its name, and the one family
};

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
