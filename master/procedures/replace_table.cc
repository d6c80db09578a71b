#include "master/procedures/replace_table.h"

#include <functional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/env/cluster_files.h"
#include "master/procedures/new_table.h"

namespace ratchet::master {

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

namespace {

MetaEdit DeleteOf(const RegionNode& node) {
  return EditRegion(MetaEdit::Kind::kDeleteRegion, {node.info, node.state, {}, {}, 0, node.taken + 1});
}

MetaCommit CommitOf(const pb::TableData& data, ProcId pid, const TableNode& table, const std::vector<RegionNode>& old,
                    TableState after) {
  MetaCommit commit;
  const auto change = [&commit](MetaCommit::Expected expected, MetaEdit edit) {
    commit.expected.push_back(std::move(expected));
    commit.edits.push_back(std::move(edit));
  };
  TableNode moved = table;
  moved.directory = data.directory();
  change({TableEdit(table, table.state, ChangeNumber(data, pid, 0)), false},
         TableEdit(moved, after, ChangeNumber(data, pid, 1)));
  for (const RegionNode& node : old) {
    MetaEdit expected = DeleteOf(node);
    expected.region.transition = node.transition;
    change({std::move(expected), false}, DeleteOf(node));
  }
  for (const MetaEdit& creation : CreationsOf(data, pid)) change({creation, true}, creation);
  return commit;
}

// A write of a procedure that was ended had not been heard of. The table's lock keeps all others away from its rows,
// and each of them goes whatever it says: so memory takes their numbers. True: the commit has been applied after all.
bool TakeRows(MasterEnv& env, const pb::TableData& data, const MetaContents& contents) {
  const TableName name = TableOf(data);
  for (const TableRow& row : contents.tables) {
    if (row.table == name && row.directory == data.directory()) return true;
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

}  // namespace

std::optional<StepOutcome> ReplaceTable(StepContext& ctx, const pb::TableData& data, TableState after) {
  if (auto wait = RequireMetaLoaded(ctx)) return wait;
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(TableOf(data));
  if (!table) return Done{TakenOver(env, data, ctx.pid()).value_or("")};  // a deletion's write has come after all
  if (table->directory == data.directory()) return std::nullopt;          // another master has read it in meta
  const std::vector<RegionNode> old = env.regions.OfTable(table->name);
  if (Status rest = AtRest(old); !rest.ok()) return Retry{rest.error(), std::nullopt};
  const auto outcome = ctx.Once<Result<CommitOutcome>>("commit", [&](std::function<void(Result<CommitOutcome>)> done) {
    env.meta.Commit(CommitOf(data, ctx.pid(), *table, old, after), std::move(done));
  });
  if (!outcome) return ctx.AwaitOnce();
  const bool known = outcome->ok() || RATCHET_MUTANT("master.assume_commit");
  if (!known) return Retry{outcome->error().Annotate("writing hbase:meta"), std::nullopt};
  if (outcome->ok() && **outcome == CommitOutcome::kRefused) {
    const auto read = ctx.Once<Result<MetaContents>>(
        "rows", [&](std::function<void(Result<MetaContents>)> done) { env.meta.Scan(std::move(done)); });
    if (!read) return ctx.AwaitOnce();
    if (!read->ok()) return Retry{read->error().Annotate("reading hbase:meta"), std::nullopt};
    if (!TakeRows(env, data, **read)) {
      return Retry{Error(Code::kUnavailable, "rows of the table in hbase:meta were not as this master knew them"),
                   std::nullopt};
    }
  }
  for (const RegionNode& node : old) env.regions.Remove(node.encoded);
  for (const MetaEdit& creation : CreationsOf(data, ctx.pid())) env.regions.Add(creation.region);
  ShowTable(env, NewTableNode(data, ctx.pid()), after, ChangeNumber(data, ctx.pid(), 1));
  RATCHET_LOG(kInfo, "pid={} table {} is in {} now, with {} regions", ctx.pid(), table->name.ToString(),
              data.directory(), data.split_keys_size() + 1);
  return std::nullopt;
}

std::optional<StepOutcome> ArchiveOldLayout(StepContext& ctx, const pb::TableData& data) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const Status gone = EnvOf(ctx).files.ArchiveTableLayout(data.old_directory(), ctx.epoch());
  if (!gone.ok()) return Retry{gone.error(), std::nullopt};
  return std::nullopt;
}

}  // namespace ratchet::master
