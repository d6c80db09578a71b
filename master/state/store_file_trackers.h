// HBase's names for what keeps track of a store's files (hbase.store.file-tracker.impl), as far as a descriptor goes.
//
// Regions keep track of their files by a manifest, whatever the name: a change of it moves no file. The name is kept,
// and changes by HBase's rules, because its clients and tools read it: DEFAULT and FILE are where a table may rest,
// MIGRATION stands between them and says from which to which. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

inline constexpr std::string_view kFileTrackerKey = "hbase.store.file-tracker.impl";

// DoNotRetryIOException: a name that is not offered, or a MIGRATION that does not say from which to which.
[[nodiscard]] Status CheckTrackers(const TableDescriptor& table);
// A new table rests. DoNotRetryIOException.
[[nodiscard]] Status CheckNewTrackers(const TableDescriptor& table);
// A change of the descriptor goes from one to another by MIGRATION only, and ends it only where it leads to.
[[nodiscard]] Status CheckTrackerChange(const TableDescriptor& before, const TableDescriptor& after);
// The descriptor in which the table, or the family, rests at `tracker`, without what a migration has left.
// NoSuchColumnFamilyException: there is no such family. DoNotRetryIOException: not a place to rest.
[[nodiscard]] Result<TableDescriptor> WithTracker(const TableDescriptor& now, const std::optional<std::string>& family,
                                                  const std::string& tracker);

}  // namespace ratchet::master
