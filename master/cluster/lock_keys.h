// Lock keys of tables and regions. hbase:meta is one region, so its table and its region have the same key.
#pragma once

#include "common/model/region_info.h"
#include "common/model/table_name.h"
#include "procedure/api/executor_options.h"
#include "procedure/api/lock_request.h"

namespace ratchet::master {

[[nodiscard]] inline procedure::ResourceKey TableKey(const TableName& table) {
  using procedure::ResourceKey;
  return table.IsMeta() ? ResourceKey::Meta() : ResourceKey::Table(table.ToString());
}

[[nodiscard]] inline procedure::ResourceKey RegionKey(const RegionInfo& region) {
  using procedure::ResourceKey;
  return region.IsMeta() ? ResourceKey::Meta() : ResourceKey::Region(region.table.ToString(), region.encoded_name());
}

// For ExecutorOptions: procedures on hbase:meta precede those on system tables, and these precede those of users.
[[nodiscard]] inline procedure::SystemTables MasterSystemTables() {
  return {MetaTableName().ToString(), std::string(kSystemNamespace)};
}

}  // namespace ratchet::master
