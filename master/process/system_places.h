// Where the regions of a system table are, as the table's reader wants to know it.
#pragma once

#include <vector>

#include "common/model/table_name.h"
#include "master/meta/rpc_system_table.h"

namespace ratchet::master {

class RegionDirectory;

[[nodiscard]] std::vector<RpcSystemTable::Place> PlacesOf(const RegionDirectory& regions, const TableName& table);

}  // namespace ratchet::master
