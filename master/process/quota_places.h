// Where the regions of hbase:quota are, as the table's reader wants to know it.
#pragma once

#include <vector>

#include "master/meta/rpc_quota_table.h"

namespace ratchet::master {

class RegionDirectory;

[[nodiscard]] std::vector<RpcQuotaTable::Place> QuotaPlaces(const RegionDirectory& regions);

}  // namespace ratchet::master
