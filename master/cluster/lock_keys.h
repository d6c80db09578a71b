// Lock keys of tables and regions. hbase:meta is one region, so its table and its region have the same key.
#pragma once

#include <string_view>

#include "common/model/region_info.h"
#include "common/model/table_name.h"
#include "procedure/api/executor_options.h"
#include "procedure/api/lock_request.h"

namespace ratchet::master {

[[nodiscard]] inline procedure::ResourceKey TableKey(const TableName& table) {
  using procedure::ResourceKey;
  return table.IsMeta() ? ResourceKey::Meta() : ResourceKey::Table(table.ToString());
}

// `encoded`: the region's encoded name.
[[nodiscard]] inline procedure::ResourceKey RegionKey(const TableName& table, std::string_view encoded) {
  using procedure::ResourceKey;
  return table.IsMeta() ? ResourceKey::Meta() : ResourceKey::Region(table.ToString(), encoded);
}
[[nodiscard]] inline procedure::ResourceKey RegionKey(const RegionInfo& region) {
  return RegionKey(region.table, region.encoded_name());
}

// For ExecutorOptions: procedures on hbase:meta precede those on system tables, and these precede those of users.
[[nodiscard]] inline procedure::SystemTables MasterSystemTables() {
  return {MetaTableName().ToString(), std::string(kSystemNamespace)};
}

}  // namespace ratchet::master
