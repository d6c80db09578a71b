#include "master/procedures/table/replace_table.h"

#include <functional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

Status AtRest(const std::vector<RegionNode>& regions) {
  for (const RegionNode& node : regions) {
    if (node.owner.valid()) {
      return Error(Code::kUnavailable, fmt::format("waits until pid={} releases region {}", node.owner, node.encoded));
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
  return EditRegion(MetaEdit::Kind::kDeleteRegion, {node.info, node.state, {}, {}, 0, node.reserved + 1});
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

// Adopts the rows' transition numbers, which a late write of an ended procedure may have raised. This is safe because
// the table's lock excludes other writers, and each of these rows is removed whatever its content. Returns true if the
// commit was already applied.
bool AdoptTransitions(MasterEnv& env, const pb::TableData& data, const MetaContents& contents) {
  const TableName name = TableOf(data);
  for (const TableRow& row : contents.tables) {
    if (row.table == name && row.directory == data.directory()) return true;
  }
  std::set<std::string> rows;
  for (const RegionRow& row : contents.regions) {
    if (row.region.table != name) continue;
    const std::string& encoded = *rows.insert(row.region.encoded_name()).first;
    if (!env.regions.Get(encoded)) env.regions.Add(row);
    env.regions.Reserve(encoded, row.transition);
    (void)env.regions.Update(encoded, [&row](RegionNode& node) { node.transition = row.transition; });
  }
  for (const RegionNode& node : env.regions.OfTable(name)) {
    if (!rows.contains(node.encoded)) env.regions.Remove(node.encoded);
  }
  return false;
}

}  // namespace

std::optional<StepOutcome> ReplaceTable(StepContext& ctx, const pb::TableData& data, TableState after) {
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(TableOf(data));
  if (!table) return Done{TakenOver(env, data, ctx.pid()).value_or("")};  // a late write of a DeleteTable was applied
  if (table->directory == data.directory()) return std::nullopt;  // another master has read the committed row in meta
  const std::vector<RegionNode> old = env.regions.OfTable(table->name);
  if (Status rest = AtRest(old); !rest.ok()) return Retry{rest.error(), std::nullopt};
  // S115 (missing row is not evidence): before the first row is removed.
  RATCHET_STEP(KeepLayout(ctx, data.directory(), ctx.pid()));
  RATCHET_STEP(DropLayout(ctx, table->directory));
  const auto outcome =
      ctx.AsyncCall<Result<CommitOutcome>>("commit", [&](std::function<void(Result<CommitOutcome>)> done) {
        env.meta.Commit(CommitOf(data, ctx.pid(), *table, old, after), std::move(done));
      });
  if (!outcome) return ctx.AwaitAsync();
  const bool known = outcome->ok() || RATCHET_MUTANT("master.assume_commit");
  if (!known) return Retry{outcome->error().Annotate("writing hbase:meta"), std::nullopt};
  if (outcome->ok() && **outcome == CommitOutcome::kRefused) {
    const auto read = ctx.AsyncCall<Result<MetaContents>>(
        "rows", [&](std::function<void(Result<MetaContents>)> done) { env.meta.Scan(std::move(done)); });
    if (!read) return ctx.AwaitAsync();
    if (!read->ok()) return Retry{read->error().Annotate("reading hbase:meta"), std::nullopt};
    if (!AdoptTransitions(env, data, **read)) {
      return Retry{Error(Code::kUnavailable, "rows of the table in hbase:meta differ from this master's memory"),
                   std::nullopt};
    }
  }
  for (const RegionNode& node : old) env.regions.Remove(node.encoded);
  for (const MetaEdit& creation : CreationsOf(data, ctx.pid())) env.regions.Add(creation.region);
  ShowTable(env, NewTableNode(data, ctx.pid()), after, ChangeNumber(data, ctx.pid(), 1));
  RATCHET_LOG(kInfo, "pid={} table {} is now in {}, with {} regions", ctx.pid(), table->name.ToString(),
              data.directory(), data.split_keys_size() + 1);
  return std::nullopt;
}

std::optional<StepOutcome> ArchiveOldLayout(StepContext& ctx, const pb::TableData& data) {
  return DropAndArchiveLayout(ctx, data.old_directory());
}

}  // namespace ratchet::master
