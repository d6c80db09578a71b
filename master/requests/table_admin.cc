#include "master/requests/table_admin.h"

#include <utility>

#include <fmt/core.h>

#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/reshape_switches.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/policy/store_file_trackers.h"
#include "master/policy/table_sanity.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/schema_reader.h"
#include "master/procedures/reshape/merge_table_regions.h"
#include "master/procedures/reshape/split_table_region.h"
#include "master/procedures/reshape/truncate_region.h"
#include "master/procedures/table/compact_table.h"
#include "master/procedures/table/create_table.h"
#include "master/procedures/table/delete_table.h"
#include "master/procedures/table/disable_table.h"
#include "master/procedures/table/enable_table.h"
#include "master/procedures/table/flush_table.h"
#include "master/procedures/table/mend_table.h"
#include "master/procedures/table/modify_table.h"
#include "master/procedures/table/truncate_table.h"

namespace ratchet::master {

TableNode TableAdmin::SeenNow(const TableName& table) const {
  if (auto node = env_.tables.Get(table)) return *std::move(node);
  TableNode missing;
  missing.name = table;
  return missing;
}

void TableAdmin::CreateTable(TableDescriptor descriptor, std::vector<std::string> split_keys, RequestContext context,
                             Done done) {
  const TableName table = descriptor.name;
  if (table.IsMeta()) return done(TableExists(table));
  if (Status sane = CheckTableSettings(descriptor, env_.options.table_sanity_checks); !sane.ok())
    return done(sane.error());
  for (const Status& tracked : {CheckTrackers(descriptor), CheckNewTrackers(descriptor)}) {
    if (!tracked.ok()) return done(tracked.error());
  }
  descriptor.dropped.clear();  // the client may have sent the descriptor of another table (S49: re-added family is new)
  for (FamilyDescriptor& family : descriptor.families) family.added_by = 0;
  descriptor.attributes.try_emplace(std::string(kFileTrackerKey), "DEFAULT");  // HBase adds it, and its clients compare
  auto check = [this, table]() -> Status {
    if (Status legal = table.Check(); !legal.ok()) return IllegalRequest(legal.error().message());
    if (env_.tables.Exists(table)) return TableExists(table);
    if (table.IsSystem()) {
      return IllegalRequest(
          fmt::format("table {}: namespace {} is reserved for system tables", table.ToString(), kSystemNamespace));
    }
    if (!env_.namespaces.Exists(table.ns)) return NamespaceNotFound(table.ns);
    return Ok();
  };
  std::string owner;  // whether the caller may name another one was judged before, S167 (naming an owner is a grant)
  if (env_.options.judges_users()) owner = descriptor.owner().empty() ? context.user : descriptor.owner();
  SubmitAsked(env_, master::CreateTable::Make(descriptor, split_keys, owner), std::move(context), std::move(check),
              std::move(done));
}

void TableAdmin::EnableTable(const TableName& table, RequestContext context, Done done) {
  auto check = [this, table]() -> Status {
    const auto node = env_.tables.Get(table);
    if (!node) return TableNotFound(table);
    if (node->state != TableState::kDisabled) return TableNotDisabled(table);
    return Ok();
  };
  SubmitAsked(env_, master::EnableTable::Make(table), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::DisableTable(const TableName& table, RequestContext context, Done done) {
  auto check = [this, table]() -> Status {
    if (table.IsMeta()) return MetaStays("Cannot disable hbase:meta");
    const auto node = env_.tables.Get(table);
    if (!node) return TableNotFound(table);
    if (node->state == TableState::kDisabled) return TableNotEnabled(table);
    return Ok();
  };
  SubmitAsked(env_, master::DisableTable::Make(SeenNow(table)), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::DeleteTable(const TableName& table, RequestContext context, Done done) {
  auto check = [this, table]() -> Status {
    const auto node = env_.tables.Get(table);
    if (!node) return TableNotFound(table);
    if (table.IsMeta()) return IllegalRequest("hbase:meta cannot be deleted");
    if (node->state == TableState::kEnabled) return TableNotDisabled(table);
    return Ok();
  };
  SubmitAsked(env_, master::DeleteTable::Make(SeenNow(table)), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::TruncateTable(const TableName& table, bool preserve_splits, RequestContext context, Done done) {
  auto check = [this, table]() -> Status {
    if (table.IsMeta()) return IllegalRequest("hbase:meta cannot be truncated");
    const auto node = env_.tables.Get(table);
    if (!node) return TableNotFound(table);
    if (node->state != TableState::kDisabled) return TableNotDisabled(table);
    return Ok();
  };
  SubmitAsked(env_, master::TruncateTable::Make(table, preserve_splits), std::move(context), std::move(check),
              std::move(done));
}

void TableAdmin::ModifyTable(SchemaChange change, bool reopen, RequestContext context, Done done) {
  auto check = [this, change]() -> Status {
    const TableName& table = change.asked.name;
    if (table.IsMeta()) return MetaStays("Cannot alter hbase:meta");
    const auto node = env_.tables.Get(table);
    if (!node) return TableNotFound(table);
    if (node->schema == nullptr) return SchemaMissing(*node);
    if (IsOfTrackers(change.kind) && node->state != TableState::kEnabled) return TableNotEnabled(table);  // as in HBase
    const auto changed = ChangedDescriptor(*node->schema, change, env_.options.table_sanity_checks);
    return changed.ok() ? Ok() : Status(changed.error());
  };
  SubmitAsked(env_, master::ModifyTable::Make(change, reopen), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::FlushTable(const TableName& table, std::vector<std::string> families, RequestContext context,
                            Done done) {
  auto check = [this, table, families]() -> Status {
    const auto node = env_.tables.Get(table);
    if (!node) return TableNotFound(table);
    if (node->state != TableState::kEnabled) return TableNotEnabled(table);
    for (const std::string& family : families) {
      if (node->schema != nullptr && node->schema->Family(family) == nullptr) return NoSuchFamily(table, family);
    }
    return Ok();
  };
  SubmitAsked(env_, master::FlushTable::Make(table, families), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::CompactTable(const TableName& table, bool major, RequestContext context, Done done) {
  auto check = [this, table]() -> Status {
    const auto node = env_.tables.Get(table);
    if (!node) return TableNotFound(table);
    if (node->state != TableState::kEnabled) return TableNotEnabled(table);
    return Ok();
  };
  SubmitAsked(env_, master::CompactTable::Make(table, major), std::move(context), std::move(check), std::move(done));
}

bool TableAdmin::IsFlushing(const TableName& table) const {
  for (const ProcId pid : env_.executor->FindUnfinished(master::FlushTable::kTypeName)) {
    const auto info = env_.executor->Get(pid);
    pb::FlushTableData data;
    if (info && data.ParseFromString(info->data) && TableName{data.ns(), data.qualifier()} == table) return true;
  }
  return false;
}

namespace {

Status CheckTransit(MasterEnv& env, const RegionNode& node, pb::TransitType type, const MoveTarget& target) {
  const std::string encoded = node.info.encoded_name();
  if (node.owner.valid()) return RegionInTransition(encoded, "pid=" + std::to_string(node.owner.value()));
  if (IsSplitOrMerged(node.state)) {
    return IllegalRequest("region " + encoded + " is " + std::string(RegionStateText(node.state)));
  }
  if (node.unplaced)
    return RegionInTransition(encoded,
                              "hbase:meta names no server for it, and not every server has sent its region list");
  const auto table = env.tables.Get(node.info.table);
  if (!table) return TableNotFound(node.info.table);
  if (type == pb::UNASSIGN && node.info.IsMeta()) return IllegalRequest("hbase:meta cannot be unassigned");
  if (type != pb::UNASSIGN && table->state != TableState::kEnabled) return TableNotEnabled(node.info.table);
  if ((type == pb::MOVE || type == pb::REOPEN) && node.state != RegionState::kOpen) {
    return RegionInTransition(encoded, "it is " + std::string(RegionStateText(node.state)) + ", not OPEN");
  }
  if ((type == pb::MOVE || type == pb::REOPEN) && table->schema == nullptr) return SchemaMissing(*table);
  if (target.server && !env.servers.IsOnline(*target.server)) {
    return IllegalRequest("server " + target.server->ToString() + " is not online");
  }
  return Ok();
}

}  // namespace

void TableAdmin::TransitRegion(const std::string& region, int type, MoveTarget target, RequestContext context,
                               Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  const auto node = env_.regions.Find(region);
  if (!node) return done(UnknownRegion(region));
  const auto kind = static_cast<pb::TransitType>(type);
  procedure::ProcedurePtr procedure;
  switch (kind) {
    case pb::ASSIGN: procedure = TransitRegionState::Assign(node->info, {}); break;
    case pb::UNASSIGN: procedure = TransitRegionState::Unassign(node->info); break;
    case pb::MOVE: procedure = TransitRegionState::Move(node->info, target.server); break;
    case pb::REOPEN: procedure = TransitRegionState::Reopen(node->info); break;
  }
  auto check = [this, kind, target, encoded = node->info.encoded_name(), region]() -> Status {
    const auto now = env_.regions.Get(encoded);
    if (!now) return UnknownRegion(region);
    return CheckTransit(env_, *now, kind, target);
  };
  SubmitAsked(env_, std::move(procedure), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::MoveRegion(const std::string& region, MoveTarget target, RequestContext context, Done done) {
  TransitRegion(region, pb::MOVE, std::move(target), std::move(context), std::move(done));
}
void TableAdmin::AssignRegion(const std::string& region, RequestContext context, Done done) {
  TransitRegion(region, pb::ASSIGN, {}, std::move(context), std::move(done));
}
void TableAdmin::UnassignRegion(const std::string& region, RequestContext context, Done done) {
  TransitRegion(region, pb::UNASSIGN, {}, std::move(context), std::move(done));
}
void TableAdmin::ReopenRegion(const std::string& region, RequestContext context, Done done) {
  TransitRegion(region, pb::REOPEN, {}, std::move(context), std::move(done));
}

namespace {

// Checks that a split or merge of the region may begin.
Status CheckReshape(const MasterEnv& env, const std::string& region,
                    Status (*allows)(const Switches&, const TableNode&)) {
  const auto node = env.regions.Find(region);
  if (!node) return UnknownRegion(region);
  const auto table = env.tables.Get(node->info.table);
  if (!table) return TableNotFound(node->info.table);
  if (table->state != TableState::kEnabled) return TableNotEnabled(node->info.table);
  RATCHET_TRY(allows(env.switches, *table));
  if (node->owner.valid()) return RegionInTransition(node->encoded, fmt::format("pid={}", node->owner));
  if (node->state == RegionState::kOpen) return Ok();
  return IllegalRequest(fmt::format("region {} is {}, not OPEN", node->encoded, RegionStateText(node->state)));
}

}  // namespace

void TableAdmin::SplitRegion(const std::string& region, const std::string& split_key, RequestContext context,
                             Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  const auto node = env_.regions.Find(region);
  if (!node) return done(UnknownRegion(region));
  auto check = [this, region]() -> Status { return CheckReshape(env_, region, AllowsSplits); };
  SubmitAsked(env_, SplitTableRegion::Make(node->info, split_key), std::move(context), std::move(check),
              std::move(done));
}

void TableAdmin::TruncateRegion(const std::string& region, RequestContext context, Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  const auto node = env_.regions.Find(region);
  if (!node) return done(UnknownRegion(region));
  auto check = [this, region]() -> Status {
    return CheckReshape(env_, region, [](const Switches&, const TableNode&) { return Ok(); });
  };
  SubmitAsked(env_, TruncateRegion::Make(node->info), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::MergeRegions(const std::vector<std::string>& regions, RequestContext context, Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  std::vector<RegionInfo> parents;
  for (const std::string& region : regions) {
    const auto node = env_.regions.Find(region);
    if (!node) return done(UnknownRegion(region));
    parents.push_back(node->info);
  }
  if (Status neighbours = MergeTableRegions::CheckNeighbours(parents); !neighbours.ok())
    return done(neighbours.error());
  auto check = [this, regions]() -> Status {
    for (const std::string& region : regions) RATCHET_TRY(CheckReshape(env_, region, AllowsMerges));
    return Ok();
  };
  SubmitAsked(env_, MergeTableRegions::Make(std::move(parents)), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::GiveUpRegion(const std::string& region, RequestContext context, Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  const auto node = env_.regions.Find(region);
  if (!node) return done(UnknownRegion(region));
  auto check = [this, encoded = node->info.encoded_name(), region]() -> Status {
    const auto now = env_.regions.Get(encoded);
    if (!now) return UnknownRegion(region);
    if (!now->info.IsMeta() && !env_.tables.Exists(now->info.table)) return TableNotFound(now->info.table);
    return MendTable::MayGiveUp(*now);
  };
  SubmitAsked(env_, MendTable::GiveUp(node->info), std::move(context), std::move(check), std::move(done));
}

void TableAdmin::FillHoles(const TableName& table, RequestContext context, Done done) {
  auto check = [this, table]() -> Status {
    if (table.IsMeta()) return IllegalRequest("hbase:meta has one region for all rows");
    if (!env_.tables.Exists(table)) return TableNotFound(table);
    return Ok();
  };
  SubmitAsked(env_, MendTable::FillHoles(table), std::move(context), std::move(check), std::move(done));
}

}  // namespace ratchet::master
