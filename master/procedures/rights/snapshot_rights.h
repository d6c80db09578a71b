// The rights in a table that a snapshot keeps, S161 (rights return when asked for).
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/table_descriptor.h"
#include "common/rights/rights_entry.h"
#include "master/procedures/core/common.h"
#include "master/procedures/core/data.pb.h"

namespace ratchet::master {

// Writes the rights in the table, as they are now, into the parts of its snapshot.
void RightsOfSnapshot(const MasterEnv& env, const TableName& table, hbase::pb::SnapshotParts& parts);
// If `data` asks for them, takes the rights of the snapshot for the table of `data`. Rights on families that `schema`
// does not have are left out. An error if they are not valid, or if there is no room.
[[nodiscard]] Status SetRestoredRights(const MasterEnv& env, const hbase::pb::SnapshotParts& parts,
                                       const TableDescriptor& schema, pb::TableData& data);
[[nodiscard]] std::vector<rights::RightsEntry> RestoredRights(const pb::TableData& data);

}  // namespace ratchet::master
