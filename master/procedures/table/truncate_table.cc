#include "master/procedures/table/truncate_table.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

ProcedurePtr TruncateTable::Make(const TableName& table, bool preserve_splits) {
  pb::TableData data = NewTableData(table);
  data.set_preserve_splits(preserve_splits);
  return std::make_unique<TruncateTable>(std::move(data));
}

procedure::Description TruncateTable::Describe() const {
  procedure::Description about;
  about.Add("table", TableOf(data_).ToString());
  if (data_.has_directory()) about.Add("new regions", data_.split_keys_size() + 1);
  return about;
}

StepOutcome TruncateTable::PreOperation(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const TableName name = TableOf(data_);
  if (name.IsMeta()) return Fail{IllegalRequest("hbase:meta cannot be truncated")};
  RATCHET_STEP(ReadNewestSchema(ctx, name));
  const auto table = env.tables.Get(name);
  if (!table) return Fail{TableNotFound(name)};
  if (table->state != TableState::kDisabled) return Fail{TableNotDisabled(name)};
  const auto regions = env.regions.OfTable(name);
  if (Status rest = AtRest(regions); !rest.ok()) return Retry{rest.error(), std::nullopt};  // without the lock
  std::set<std::string> keys;
  for (const RegionNode& node : regions) {
    if (data_.preserve_splits() && HasItsRows(node.state) && !node.info.start_key.empty())
      keys.insert(node.info.start_key);
  }
  if (regions.size() + keys.size() + 2 > kMaxReplacedRows) {
    return Fail{
        IllegalRequest(fmt::format("table {} has {} regions: truncation changes at most {} rows of hbase:meta at "
                                   "once. Drop the table and create it again",
                                   name.ToString(), regions.size(), kMaxReplacedRows))};
  }
  data_.clear_split_keys();
  for (const std::string& key : keys) data_.add_split_keys(key);
  hbase::pb::TableSchema schema;
  ToProto(*table->schema, schema);
  data_.set_schema(schema.SerializeAsString());
  data_.set_old_directory(table->directory);
  data_.set_directory(TableDirectoryName(name, ctx.pid()));
  RecordLockGrant(env, data_, ctx.pid(), table->state);
  return GoTo<&TruncateTable::SetDisabled>();
}

}  // namespace ratchet::master
