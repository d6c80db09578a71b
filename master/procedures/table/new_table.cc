#include "master/procedures/table/new_table.h"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/model/cell.h"
#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_creations.h"
#include "master/cluster/undo_writes.h"
#include "master/procedures/assignment/assign_regions.h"
#include "master/procedures/core/act_on_files.h"

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
    if (at < data.copied_size()) edits.back().region.build_number = data.copied(at).built();
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
  node.schema_number = creator.value();
  return node;
}

std::optional<StepOutcome> RequireNoOtherCreation(StepContext& ctx, const pb::TableData& data) {
  const Status may = EnvOf(ctx).creations.MayMakeTable(TableOf(data), ctx.pid());
  if (may.ok() || RATCHET_MUTANT("master.create_beside_creation")) return std::nullopt;
  return Retry{may.error(), std::nullopt};
}

std::optional<StepOutcome> MakeNewLayout(StepContext& ctx, const pb::TableData& data) {
  const auto descriptor = DescriptorIn(data);
  if (!descriptor.ok()) return Fail{descriptor.error()};
  std::vector<std::string> encoded;
  for (const RegionInfo& region : NewRegionsOf(data, ctx.pid())) encoded.push_back(region.encoded_name());
  const auto make = [directory = data.directory(), pid = ctx.pid(), descriptor = *descriptor,
                     encoded = std::move(encoded)](ClusterFiles& files) {
    return files.CreateTableLayout(directory, pid, descriptor, encoded);
  };
  auto made = ActOnFiles(ctx, "making data/" + data.directory(), make);
  RATCHET_STEP(made.wait);
  if (made.result->ok()) return std::nullopt;
  // Permanent errors are returned to the client; others are retried until an operator aborts the procedure.
  const Error& why = made.result->error();
  const Code code = why.code();
  if (code == Code::kNoSpace || code == Code::kFailedPrecondition || code == Code::kInvalidArgument) return Fail{why};
  return Retry{why, std::nullopt};
}

namespace {

std::string DropText(const std::string& directory) {
  return fmt::format("marking that data/{} may be removed", directory);
}
std::string ArchiveText(const std::string& directory) {
  return fmt::format("moving data/{} to the archive", directory);
}
Status MarkDroppedInUndo(StepContext& ctx, const std::string& directory) {
  return UndoOnFiles(ctx, DropText(directory),
                     [directory, pid = ctx.pid()](ClusterFiles& files) { return files.MarkDropped(directory, pid); });
}

}  // namespace

std::optional<StepOutcome> KeepLayout(StepContext& ctx, const std::string& directory, ProcId pid) {
  return ActUntilDone(ctx, fmt::format("marking that data/{} stays", directory),
                      [directory, pid](ClusterFiles& files) { return files.MarkKept(directory, pid); });
}

std::optional<StepOutcome> DropLayout(StepContext& ctx, const std::string& directory) {
  return ActUntilDone(ctx, DropText(directory),
                      [directory, pid = ctx.pid()](ClusterFiles& files) { return files.MarkDropped(directory, pid); });
}

std::optional<StepOutcome> DropAndArchiveLayout(StepContext& ctx, const std::string& directory) {
  RATCHET_STEP(DropLayout(ctx, directory));  // a master of version 0.1 made no mark
  return ActUntilDone(ctx, ArchiveText(directory), [directory, epoch = ctx.epoch()](ClusterFiles& files) {
    return files.ArchiveTableLayout(directory, epoch);
  });
}

Status ArchiveNewLayout(StepContext& ctx, const pb::TableData& data) {
  RATCHET_TRY(MarkDroppedInUndo(ctx, data.directory()));
  return UndoOnFiles(ctx, ArchiveText(data.directory()),
                     [directory = data.directory(), epoch = ctx.epoch()](ClusterFiles& files) {
                       return files.ArchiveTableLayout(directory, epoch);
                     });
}

std::optional<StepOutcome> AddNewTable(StepContext& ctx, const pb::TableData& data) {
  MasterEnv& env = EnvOf(ctx);
  const std::vector<MetaEdit> edits = CreationsOf(data, ctx.pid());
  for (const MetaEdit& edit : edits) {
    // Requests with such a key are refused now. Only a procedure of an earlier version has one. A retry cannot help.
    if (!FitsMeta(edit.region.region.table, edit.region.region.start_key))
      return Fail{IllegalRequest("a split key is too long for hbase:meta")};
  }
  // The table's own row is added last and removed first: while it exists, the rows of all its regions exist (S66: table
  // row last in, first out).
  RATCHET_STEP(WriteMeta(ctx, "regions", edits));
  // S115 (missing row is not evidence): a table with a row stays
  RATCHET_STEP(KeepLayout(ctx, data.directory(), ctx.pid()));
  const MetaEdit row = TableCreation(NewTableNode(data, ctx.pid()), ChangeNumber(data, ctx.pid(), 0));
  RATCHET_STEP(WriteMeta(ctx, "table", {row}));
  // Removes leftovers of an earlier table of this name from memory; the reconciler removes their rows from hbase:meta.
  for (const RegionNode& node : env.regions.OfTable(TableOf(data))) env.regions.Remove(node.info.encoded_name());
  for (const MetaEdit& edit : edits) env.regions.Add(edit.region);
  ShowTable(env, NewTableNode(data, ctx.pid()), TableState::kEnabling, ChangeNumber(data, ctx.pid(), 0));
  return std::nullopt;
}

Status RemoveNewTable(StepContext& ctx, const pb::TableData& data) {
  MasterEnv& env = EnvOf(ctx);
  if (!env.meta_loaded.load()) return Error(Code::kUnavailable, "hbase:meta is not loaded");
  RATCHET_TRY(MarkDroppedInUndo(ctx, data.directory()));  // before the first row is removed (S115)
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

std::vector<ProcedurePtr> AssignNewRegions(StepContext& ctx, const pb::TableData& data) {
  std::vector<RegionNode> nodes;
  for (RegionInfo& region : NewRegionsOf(data, ctx.pid())) {
    auto node = EnvOf(ctx).regions.Get(region.encoded_name());
    if (!node) node.emplace().info = std::move(region);  // its transition finds that it is gone
    nodes.push_back(*std::move(node));
  }
  return AssignAll(EnvOf(ctx), nodes, /*retain=*/false);
}

}  // namespace ratchet::master
