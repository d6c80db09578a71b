#include "master/procedures/create_table.h"

#include <fmt/format.h>

#include "common/model/cell.h"
#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/env/cluster_files.h"
#include "master/state/errors.h"
#include "master/state/region_directory.h"
#include "master/state/undo_writes.h"

namespace ratchet::master {
namespace {

// The procedure's record, written with each step, and the descriptor's file.
constexpr std::size_t kMaxRequestBytes = 4u << 20;

// Whether the name of the region that begins at `key`, whatever its id, can be a row of hbase:meta.
bool FitsMeta(const TableName& table, std::string_view key) {
  constexpr std::size_t kIdAndHash = 1 + 20 + 1 + 32 + 1;  // ",<id>.<MD5>."
  return table.ToString().size() + 1 + key.size() + kIdAndHash <= kMaxRowLength;
}

}  // namespace

ProcedurePtr CreateTable::Make(const TableDescriptor& descriptor, const std::vector<std::string>& split_keys) {
  pb::TableData data = NewTableData(descriptor.name);
  hbase::pb::TableSchema schema;
  ToProto(descriptor, schema);
  data.set_schema(schema.SerializeAsString());
  for (const std::string& key : split_keys) data.add_split_keys(key);
  return std::make_unique<CreateTable>(std::move(data));
}

Status CreateTable::CheckInitial() const {
  const auto descriptor = DescriptorIn(data_);
  if (!descriptor.ok()) return descriptor.error();
  if (Status sound = descriptor->Check(); !sound.ok()) return IllegalRequest(sound.error().message());
  if (data_.ByteSizeLong() > kMaxRequestBytes) {
    return IllegalRequest(fmt::format("descriptor and split keys have {} bytes together: at most {}",
                                      data_.ByteSizeLong(), kMaxRequestBytes));
  }
  std::string_view last;
  for (const std::string& key : data_.split_keys()) {
    if (!FitsMeta(descriptor->name, key)) {
      return IllegalRequest(
          fmt::format("a split key of {} bytes is too long: with the table's name it makes a region's name, "
                      "which is a row of hbase:meta and has at most {} bytes",
                      key.size(), kMaxRowLength));
    }
    if (key.empty()) return IllegalRequest("an empty split key");
    if (key <= last) return IllegalRequest("split keys must rise and be unique");
    last = key;
  }
  return Ok();
}

std::string CreateTable::Describe() const {
  return fmt::format("table={}, regions={}", TableOf(data_).ToString(), data_.split_keys_size() + 1);
}

std::vector<RegionInfo> CreateTable::Regions() const { return NewRegionsOf(data_, pid()); }

StepOutcome CreateTable::PreOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (EnvOf(ctx).tables.Exists(TableOf(data_))) return Fail{TableExists(TableOf(data_))};
  data_.set_directory(TableDirectoryName(TableOf(data_), ctx.pid()));
  TakeTurn(EnvOf(ctx), data_, ctx.pid(), std::nullopt);
  return GoTo(State::kWriteFsLayout);
}

StepOutcome CreateTable::WriteFsLayout(StepContext& ctx) {
  if (auto outcome = MakeNewLayout(ctx, data_)) return std::move(*outcome);
  return GoTo(State::kAddToMeta);
}

Status CreateTable::ArchiveLayout(StepContext& ctx) { return ArchiveNewLayout(ctx, data_); }

StepOutcome CreateTable::AddToMeta(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  std::vector<MetaEdit> edits;
  for (const RegionInfo& region : Regions()) {
    // Of a procedure that was submitted before such keys were refused. It will not get better by itself.
    if (!FitsMeta(region.table, region.start_key))
      return Fail{IllegalRequest("a split key is too long for hbase:meta")};
    edits.push_back(CreationOf(region));
  }
  // The table's own row comes last and goes first: where it is, all of its regions' rows are (S66).
  if (auto outcome = WriteMeta(ctx, "regions", edits)) return std::move(*outcome);
  const MetaEdit row =
      TableEdit(NewTableNode(data_, ctx.pid()), TableState::kEnabling, ChangeNumber(data_, ctx.pid(), 0));
  if (auto outcome = WriteMeta(ctx, "table", {row})) return std::move(*outcome);
  // What an earlier table of this name has left, which the reconciler removes from hbase:meta.
  for (const RegionNode& node : env.regions.OfTable(TableOf(data_))) env.regions.Remove(node.info.encoded_name());
  for (const MetaEdit& edit : edits) env.regions.Add(edit.region);
  ShowTable(env, NewTableNode(data_, ctx.pid()), TableState::kEnabling, ChangeNumber(data_, ctx.pid(), 0));
  return GoTo(State::kAssignRegions);
}

Status CreateTable::RemoveFromMeta(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (!env.meta_loaded.load()) return Error(Code::kUnavailable, "hbase:meta is not loaded");
  MetaEdit row = TableEdit(NewTableNode(data_, ctx.pid()), TableState::kEnabling, ChangeNumber(data_, ctx.pid(), 1));
  row.kind = MetaEdit::Kind::kDeleteTable;
  RATCHET_TRY(env.undo_writes.Write(ctx.pid(), 0, {row}));
  env.tables.Remove(TableOf(data_));
  std::vector<MetaEdit> edits;
  for (const RegionInfo& region : Regions()) {
    if (!FitsMeta(region.table, region.start_key)) continue;  // a row that cannot exist
    edits.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, {region, RegionState::kClosed, {}, {}, 0, 2}));
  }
  RATCHET_TRY(env.undo_writes.Write(ctx.pid(), 1, edits));
  for (const RegionInfo& region : Regions()) env.regions.Remove(region.encoded_name());
  return Ok();
}

StepOutcome CreateTable::AssignRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return SpawnThen(State::kEnable, AssignNewRegions(data_, ctx.pid()));
}

StepOutcome CreateTable::Enable(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (TakenOver(EnvOf(ctx), data_, ctx.pid())) return GoTo(State::kPostOperation);
  if (auto outcome = SetTableState(ctx, data_, TableState::kEnabled, 2)) return std::move(*outcome);
  return GoTo(State::kPostOperation);
}

StepOutcome CreateTable::PostOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return Done{TakenOver(EnvOf(ctx), data_, ctx.pid()).value_or("")};
}

void CreateTable::OnRecovered(const procedure::EnvRef& env) { RestoreTurn(env.As<MasterEnv>(), data_, pid()); }

}  // namespace ratchet::master
