// HBase's store file trackers (hbase.store.file-tracker.impl), as descriptors name them.
//
// Regions always track their files by a manifest, so a change of tracker moves no file. The name is stored, and changes
// by HBase's rules, because its clients and tools read it: DEFAULT and FILE are final trackers, and MIGRATION is the
// transition between them and names both. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

inline constexpr std::string_view kFileTrackerKey = "hbase.store.file-tracker.impl";

// DoNotRetryIOException: an unknown name, or a MIGRATION that does not name both trackers.
[[nodiscard]] Status CheckTrackers(const TableDescriptor& table);
// A new table must have a final tracker. Error: DoNotRetryIOException.
[[nodiscard]] Status CheckNewTrackers(const TableDescriptor& table);
// A descriptor may change the tracker only through MIGRATION, which may end only at its target.
[[nodiscard]] Status CheckTrackerChange(const TableDescriptor& before, const TableDescriptor& after);
// Returns the descriptor with the final tracker `tracker` for the table or the family, without attributes of a
// migration. NoSuchColumnFamilyException: the family does not exist. DoNotRetryIOException: `tracker` is not final.
[[nodiscard]] Result<TableDescriptor> WithTracker(const TableDescriptor& now, const std::optional<std::string>& family,
                                                  const std::string& tracker);

}  // namespace ratchet::master
