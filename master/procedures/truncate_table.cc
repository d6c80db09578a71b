#include "master/procedures/truncate_table.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/env/cluster_files.h"
#include "master/procedures/new_table.h"
#include "master/state/errors.h"
#include "master/state/region_directory.h"
#include "master/state/schema_reader.h"

namespace ratchet::master {
namespace {

// Rows of one commit: what one request and one entry of a log can carry.
constexpr std::size_t kMaxRows = 20'000;

// Nothing: every region of the disabled table is closed. Otherwise why not.
Status AtRest(const std::vector<RegionNode>& regions) {
  for (const RegionNode& node : regions) {
    if (node.owner.valid()) {
      return Error(Code::kUnavailable,
                   fmt::format("waits until pid={} lets go of region {}", node.owner, node.encoded));
    }
    if (NeedsServer(node.state) || node.unplaced) {
      return Error(Code::kUnavailable,
                   fmt::format("waits until region {} is closed: it is {}", node.encoded, RegionStateText(node.state)));
    }
  }
  return Ok();
}

MetaEdit DeleteOf(const RegionNode& node) {
  return EditRegion(MetaEdit::Kind::kDeleteRegion, {node.info, node.state, {}, {}, 0, node.taken + 1});
}

}  // namespace

ProcedurePtr TruncateTable::Make(const TableName& table, bool preserve_splits) {
  pb::TableData data = NewTableData(table);
  data.set_preserve_splits(preserve_splits);
  return std::make_unique<TruncateTable>(std::move(data));
}

std::string TruncateTable::Describe() const {
  std::string text = "table=" + TableOf(data_).ToString();
  if (data_.has_directory()) text += fmt::format(", new regions={}", data_.split_keys_size() + 1);
  return text;
}

StepOutcome TruncateTable::PreOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const TableName name = TableOf(data_);
  if (name.IsMeta()) return Fail{IllegalRequest("hbase:meta cannot be truncated")};
  if (Status read = RefreshSchema(env, name); !read.ok()) return Fail{read.error()};
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
  if (regions.size() + keys.size() + 2 > kMaxRows) {
    return Fail{
        IllegalRequest(fmt::format("table {} has {} regions: truncation changes at most {} rows of hbase:meta at "
                                   "once. Drop the table and create it again",
                                   name.ToString(), regions.size(), kMaxRows))};
  }
  data_.clear_split_keys();
  for (const std::string& key : keys) data_.add_split_keys(key);
  hbase::pb::TableSchema schema;
  ToProto(*table->schema, schema);
  data_.set_schema(schema.SerializeAsString());
  data_.set_old_directory(table->directory);
  data_.set_directory(TableDirectoryName(name, ctx.pid()));
  TakeTurn(env, data_, ctx.pid(), table->state);
  return GoTo(State::kSetDisabled);
}

// The commit expects the table's row under exactly this number.
StepOutcome TruncateTable::SetDisabled(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (auto outcome = SetTableState(ctx, data_, TableState::kDisabled, 0)) return std::move(*outcome);
  return GoTo(State::kCreateFsLayout);
}

StepOutcome TruncateTable::CreateFsLayout(StepContext& ctx) {
  if (auto outcome = MakeNewLayout(ctx, data_)) return std::move(*outcome);
  return GoTo(State::kUpdateMeta);
}

Status TruncateTable::ArchiveLayout(StepContext& ctx) { return ArchiveNewLayout(ctx, data_); }

MetaCommit TruncateTable::CommitOf(const TableNode& table, const std::vector<RegionNode>& old) const {
  MetaCommit commit;
  const auto change = [&commit](MetaCommit::Expected expected, MetaEdit edit) {
    commit.expected.push_back(std::move(expected));
    commit.edits.push_back(std::move(edit));
  };
  TableNode moved = table;
  moved.directory = data_.directory();
  change({TableEdit(table, table.state, ChangeNumber(data_, pid(), 0)), false},
         TableEdit(moved, TableState::kEnabling, ChangeNumber(data_, pid(), 1)));
  for (const RegionNode& node : old) {
    MetaEdit expected = DeleteOf(node);
    expected.region.transition = node.transition;
    change({std::move(expected), false}, DeleteOf(node));
  }
  for (const RegionInfo& region : NewRegionsOf(data_, pid())) change({CreationOf(region), true}, CreationOf(region));
  return commit;
}

// Behind the point of no return: sent until its outcome is known, and nothing is done before that (S40).
StepOutcome TruncateTable::UpdateMeta(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(TableOf(data_));
  if (!table) return Done{TakenOver(env, data_, ctx.pid()).value_or("")};  // a deletion's write has come after all
  if (table->directory == data_.directory()) return GoTo(State::kClearFsLayout);  // another master has read it in meta
  const std::vector<RegionNode> old = env.regions.OfTable(table->name);
  if (Status rest = AtRest(old); !rest.ok()) return Retry{rest.error(), std::nullopt};
  const auto outcome = ctx.Once<Result<CommitOutcome>>("commit", [&](std::function<void(Result<CommitOutcome>)> done) {
    env.meta.Commit(CommitOf(*table, old), std::move(done));
  });
  if (!outcome) return ctx.AwaitOnce();
  const bool known = outcome->ok() || RATCHET_MUTANT("master.assume_commit");
  if (!known) return Retry{outcome->error().Annotate("writing hbase:meta"), std::nullopt};
  if (outcome->ok() && **outcome == CommitOutcome::kRefused) {
    const auto read = ctx.Once<Result<MetaContents>>(
        "rows", [&](std::function<void(Result<MetaContents>)> done) { env.meta.Scan(std::move(done)); });
    if (!read) return ctx.AwaitOnce();
    if (!read->ok()) return Retry{read->error().Annotate("reading hbase:meta"), std::nullopt};
    if (!TakeRows(env, **read)) {
      return Retry{Error(Code::kUnavailable, "rows of the table in hbase:meta were not as this master knew them"),
                   std::nullopt};
    }
  }
  ShowNewTable(env, old);
  RATCHET_LOG(kInfo, "pid={} table {} is in {} now, with {} regions", ctx.pid(), table->name.ToString(),
              data_.directory(), data_.split_keys_size() + 1);
  return GoTo(State::kClearFsLayout);
}

// A write of a procedure that was ended had not been heard of. The table's lock keeps all others away from its rows,
// and each of them goes whatever it says: so memory takes their numbers. True: the commit has been applied after all.
bool TruncateTable::TakeRows(MasterEnv& env, const MetaContents& contents) const {
  const TableName name = TableOf(data_);
  for (const TableRow& row : contents.tables) {
    if (row.table == name && row.directory == data_.directory()) return true;
  }
  std::set<std::string> rows;
  for (const RegionRow& row : contents.regions) {
    if (row.region.table != name) continue;
    const std::string& encoded = *rows.insert(row.region.encoded_name()).first;
    if (!env.regions.Get(encoded)) env.regions.Add(row);
    env.regions.Take(encoded, row.transition);
    (void)env.regions.Update(encoded, [&row](RegionNode& node) { node.transition = row.transition; });
  }
  for (const RegionNode& node : env.regions.OfTable(name)) {
    if (!rows.contains(node.encoded)) env.regions.Remove(node.encoded);
  }
  return false;
}

void TruncateTable::ShowNewTable(MasterEnv& env, const std::vector<RegionNode>& old) const {
  for (const RegionNode& node : old) env.regions.Remove(node.encoded);
  for (const RegionInfo& region : NewRegionsOf(data_, pid())) env.regions.Add(CreationOf(region).region);
  ShowTable(env, NewTableNode(data_, pid()), TableState::kEnabling, ChangeNumber(data_, pid(), 1));
}

StepOutcome TruncateTable::ClearFsLayout(StepContext& ctx) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const Status gone = EnvOf(ctx).files.ArchiveTableLayout(data_.old_directory(), ctx.epoch());
  if (!gone.ok()) return Retry{gone.error(), std::nullopt};
  return GoTo(State::kAssignRegions);
}

StepOutcome TruncateTable::AssignRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return SpawnThen(State::kEnable, AssignNewRegions(data_, ctx.pid()));
}

StepOutcome TruncateTable::Enable(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (TakenOver(EnvOf(ctx), data_, ctx.pid())) return GoTo(State::kPostOperation);
  if (auto outcome = SetTableState(ctx, data_, TableState::kEnabled, 2)) return std::move(*outcome);
  return GoTo(State::kPostOperation);
}

StepOutcome TruncateTable::PostOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return Done{TakenOver(EnvOf(ctx), data_, ctx.pid()).value_or("")};
}

void TruncateTable::OnRecovered(const procedure::EnvRef& env) { RestoreTurn(env.As<MasterEnv>(), data_, pid()); }

}  // namespace ratchet::master
