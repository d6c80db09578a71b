#include "master/procedures/new_table.h"

#include <memory>
#include <string>

#include "common/model/cell.h"
#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/env/cluster_files.h"
#include "master/procedures/transit_region_state.h"
#include "master/state/errors.h"
#include "master/state/region_directory.h"
#include "master/state/undo_writes.h"

namespace ratchet::master {

bool FitsMeta(const TableName& table, std::string_view key) {
  constexpr std::size_t kIdAndHash = 1 + 20 + 1 + 32 + 1;  // ",<id>.<MD5>."
  return table.ToString().size() + 1 + key.size() + kIdAndHash <= kMaxRowLength;
}

Result<TableDescriptor> DescriptorIn(const pb::TableData& data) {
  hbase::pb::TableSchema schema;
  if (!schema.ParseFromString(data.schema())) return IllegalRequest("unreadable table schema");
  auto descriptor = FromProto(schema);
  if (!descriptor.ok()) return IllegalRequest(descriptor.error().message());
  return descriptor;
}

std::vector<RegionInfo> NewRegionsOf(const pb::TableData& data, ProcId creator) {
  std::vector<RegionInfo> regions(static_cast<std::size_t>(data.split_keys_size()) + 1);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    regions[i].table = TableOf(data);
    regions[i].region_id = RegionIdFor(creator);
    if (i > 0) regions[i].start_key = data.split_keys(static_cast<int>(i) - 1);
    if (i + 1 < regions.size()) regions[i].end_key = data.split_keys(static_cast<int>(i));
  }
  return regions;
}

MetaEdit CreationOf(const RegionInfo& region) {
  return EditRegion(MetaEdit::Kind::kCreateRegion, {region, RegionState::kClosed, {}, {}, 0, kCreatedTransition});
}

std::vector<MetaEdit> CreationsOf(const pb::TableData& data, ProcId creator) {
  std::vector<MetaEdit> edits;
  for (const RegionInfo& region : NewRegionsOf(data, creator)) {
    edits.push_back(CreationOf(region));
    const auto at = static_cast<int>(edits.size()) - 1;
    if (at < data.copied_size()) edits.back().region.born = data.copied(at).built();
  }
  return edits;
}

TableNode NewTableNode(const pb::TableData& data, ProcId creator) {
  TableNode node;
  node.name = TableOf(data);
  node.directory = data.directory();
  if (auto descriptor = DescriptorIn(data); descriptor.ok()) {
    node.schema = std::make_shared<const TableDescriptor>(std::move(*descriptor));
  }
  node.descriptor = creator.value();
  return node;
}

std::optional<StepOutcome> MakeNewLayout(StepContext& ctx, const pb::TableData& data) {
  const auto descriptor = DescriptorIn(data);
  if (!descriptor.ok()) return Fail{descriptor.error()};
  std::vector<std::string> encoded;
  for (const RegionInfo& region : NewRegionsOf(data, ctx.pid())) encoded.push_back(region.encoded_name());
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const Status made = EnvOf(ctx).files.CreateTableLayout(data.directory(), ctx.pid(), *descriptor, encoded);
  if (made.ok()) return std::nullopt;
  // What will not get better by itself is the client's to know; the rest is tried again, until an operator aborts it.
  const Code code = made.error().code();
  if (code == Code::kNoSpace || code == Code::kFailedPrecondition || code == Code::kInvalidArgument)
    return Fail{made.error()};
  return Retry{made.error(), std::nullopt};
}

Status ArchiveNewLayout(StepContext& ctx, const pb::TableData& data) {
  RATCHET_TRY(ctx.CheckOwner());
  return EnvOf(ctx).files.ArchiveTableLayout(data.directory(), ctx.epoch());
}

std::optional<StepOutcome> AddNewTable(StepContext& ctx, const pb::TableData& data) {
  if (auto wait = RequireMetaLoaded(ctx)) return wait;
  MasterEnv& env = EnvOf(ctx);
  const std::vector<MetaEdit> edits = CreationsOf(data, ctx.pid());
  for (const MetaEdit& edit : edits) {
    // Of a procedure that was submitted before such keys were refused. It will not get better by itself.
    if (!FitsMeta(edit.region.region.table, edit.region.region.start_key))
      return Fail{IllegalRequest("a split key is too long for hbase:meta")};
  }
  // The table's own row comes last and goes first: where it is, all of its regions' rows are (S66).
  if (auto outcome = WriteMeta(ctx, "regions", edits)) return outcome;
  const MetaEdit row =
      TableEdit(NewTableNode(data, ctx.pid()), TableState::kEnabling, ChangeNumber(data, ctx.pid(), 0));
  if (auto outcome = WriteMeta(ctx, "table", {row})) return outcome;
  // What an earlier table of this name has left, which the reconciler removes from hbase:meta.
  for (const RegionNode& node : env.regions.OfTable(TableOf(data))) env.regions.Remove(node.info.encoded_name());
  for (const MetaEdit& edit : edits) env.regions.Add(edit.region);
  ShowTable(env, NewTableNode(data, ctx.pid()), TableState::kEnabling, ChangeNumber(data, ctx.pid(), 0));
  return std::nullopt;
}

Status RemoveNewTable(StepContext& ctx, const pb::TableData& data) {
  MasterEnv& env = EnvOf(ctx);
  if (!env.meta_loaded.load()) return Error(Code::kUnavailable, "hbase:meta is not loaded");
  MetaEdit row = TableEdit(NewTableNode(data, ctx.pid()), TableState::kEnabling, ChangeNumber(data, ctx.pid(), 1));
  row.kind = MetaEdit::Kind::kDeleteTable;
  RATCHET_TRY(env.undo_writes.Write(ctx.pid(), 0, {row}));
  env.tables.Remove(TableOf(data));
  const std::vector<RegionInfo> regions = NewRegionsOf(data, ctx.pid());
  std::vector<MetaEdit> edits;
  for (const RegionInfo& region : regions) {
    if (!FitsMeta(region.table, region.start_key)) continue;  // a row that cannot exist
    edits.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, {region, RegionState::kClosed, {}, {}, 0, 2}));
  }
  RATCHET_TRY(env.undo_writes.Write(ctx.pid(), 1, edits));
  for (const RegionInfo& region : regions) env.regions.Remove(region.encoded_name());
  return Ok();
}

std::vector<ProcedurePtr> AssignNewRegions(const pb::TableData& data, ProcId creator) {
  std::vector<ProcedurePtr> assigns;
  for (const RegionInfo& region : NewRegionsOf(data, creator)) {
    assigns.push_back(TransitRegionState::Assign(region, {}));
  }
  return assigns;
}

}  // namespace ratchet::master
