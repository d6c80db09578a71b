// Locations of the regions of a system table, in the form that the table's reader needs.
#pragma once

#include <vector>

#include "common/model/table_name.h"
#include "master/meta/rpc_system_table.h"

namespace ratchet::master {

class RegionDirectory;

[[nodiscard]] std::vector<RpcSystemTable::Place> PlacesOf(const RegionDirectory& regions, const TableName& table);

}  // namespace ratchet::master
