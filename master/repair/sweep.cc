#include "master/repair/sweep.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/cluster/split_workers.h"
#include "master/procedures/admin/init_meta.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/table/disable_table.h"
#include "master/procedures/table/enable_table.h"
#include "master/procedures/table/table_steps.h"
#include "master/repair/online_watch.h"
#include "master/repair/table_comparison.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

// ---- the facts ----

namespace {

constexpr std::size_t kRegionsASweep = 5'000;

class Look {
 public:
  Look(const MasterEnv& env, OnlineWatch& watch, SweepSnapshot* out) : env_(env), watch_(watch), out_(*out) {}

  void AtProcedures(std::string* position) {
    out_.slots = env_.split_workers.Holders();
    for (const ProcId holder : out_.slots) NoteIfRunning(holder);
    out_.owned = env_.regions.Owned(position, kRegionsASweep);
    for (const RegionNode& node : out_.owned) NoteIfRunning(node.owner);
  }
  void AtMeta() {
    out_.meta_is_being_created = !env_.executor->FindUnfinished(InitMeta::kTypeName).empty();
    if (out_.meta_is_being_created) return;
    out_.meta = env_.regions.Get(kMetaEncodedName);
    out_.meta_was_created = env_.executor->SystemRecord(std::string(kMetaLocationRecord)).has_value();
    if (out_.meta) NoteServer(*out_.meta);
  }
  void AtServers() {
    for (const ServerName& server : env_.regions.Locations()) {
      if (!env_.servers.PhaseOf(server)) out_.on_unknown_servers[server] = env_.regions.OnServer(server);
    }
  }
  void AtRegions(std::string* position) {
    out_.unsettled = env_.regions.Unsettled(position, kRegionsASweep);
    // Regions of disabled tables that are open without an owner are at rest.
    for (const TableName& table : env_.tables.Disabled()) {
      if (env_.regions.NotClosedOf(table) == 0) continue;
      for (RegionNode& node : env_.regions.OfTable(table)) out_.unsettled.push_back(std::move(node));
    }
    for (const RegionNode& node : out_.unsettled) {
      NoteServer(node);
      if (const auto table = env_.tables.Get(node.info.table)) out_.table_states[node.info.table] = table->state;
      if (node.unplaced && (watch_.AllHaveSaid(node) || RATCHET_MUTANT("reconciler.assign_unplaced")))
        out_.absent_everywhere.insert(node.encoded);
    }
    if (out_.unsettled.empty()) return;
    for (const RegionInfo& region : RegionsOfReshapes(*env_.executor)) out_.of_reshapes.insert(region.encoded_name());
  }
  void AtTables() {
    for (TableNode& table : env_.tables.Unsettled()) {
      auto grant = env_.tables.LastLockGrant(table.name);
      if (grant) NoteIfRunning(grant->pid);
      out_.unsettled_tables.push_back({std::move(table), grant});
    }
  }

 private:
  void NoteIfRunning(ProcId pid) {
    if (env_.executor->GetResult(pid).status == procedure::ProcedureResult::Status::kRunning) out_.running.insert(pid);
  }
  void NoteServer(const RegionNode& node) {
    if (!node.location || out_.servers.contains(*node.location)) return;
    out_.servers[*node.location] = {env_.servers.PhaseOf(*node.location).has_value(),
                                    env_.servers.SettlementOf(*node.location, /*region=*/{}),
                                    env_.servers.SettlementOf(*node.location, kMetaEncodedName)};
  }

  const MasterEnv& env_;
  OnlineWatch& watch_;
  SweepSnapshot& out_;
};

}  // namespace

SweepSnapshot TakeSweepSnapshot(const MasterEnv& env, OnlineWatch& watch, Millis grace, SweepPositions* positions) {
  SweepSnapshot snapshot;
  snapshot.grace = grace;
  Look look(env, watch, &snapshot);
  look.AtProcedures(&positions->owned);
  look.AtMeta();
  if (env.meta_loaded.load()) {
    look.AtServers();
    look.AtRegions(&positions->unsettled);
    look.AtTables();
  }
  snapshot.now = env.clock.Now();
  return snapshot;
}

// ---- the repairs ----

namespace {

std::string StateOf(const std::optional<RegionNode>& node) {
  return node ? std::string(RegionStateText(node->state)) : "not there";
}

class Comparison {
 public:
  explicit Comparison(const SweepSnapshot& snapshot) : at_(snapshot) {}

  void OfSlots() {
    for (const ProcId holder : at_.slots) {
      if (!IsRunning(holder) && !RATCHET_MUTANT("master.leak_split_places")) repairs_.emplace_back(ReleaseSlot{holder});
    }
  }
  void OfOwners() {
    for (const RegionNode& node : at_.owned) {
      if (IsRunning(node.owner)) continue;
      repairs_.emplace_back(ReleaseRegion{node,
                                          {node.location.value_or(ServerName{}), node.encoded,
                                           fmt::format("was {} under pid={}, which has ended: ownership released",
                                                       RegionStateText(node.state), node.owner)}});
    }
  }
  void OfMeta();
  void OfServers();
  void OfRegions() {
    std::set<std::string> seen;  // regions of disabled tables may be listed twice
    for (const RegionNode& node : at_.unsettled) {
      if (seen.insert(node.encoded).second) OfRegion(node);
    }
  }
  void OfTables();
  [[nodiscard]] std::vector<Repair> Repairs() && { return std::move(repairs_); }

 private:
  [[nodiscard]] bool IsRunning(ProcId pid) const { return at_.running.contains(pid); }
  [[nodiscard]] bool IsRecent(const RegionNode& node) const { return at_.now - node.last_update < at_.grace; }
  [[nodiscard]] SweepSnapshot::Server ServerOf(const RegionNode& node) const {
    const auto found = at_.servers.find(*node.location);
    return found == at_.servers.end() ? SweepSnapshot::Server() : found->second;
  }
  void Submit(std::string key, procedure::ProcedurePtr procedure, Finding finding) {
    repairs_.emplace_back(SubmitProcedure{std::move(key), std::move(procedure), std::move(finding)});
  }
  void OfRegion(const RegionNode& node);

  const SweepSnapshot& at_;
  std::vector<Repair> repairs_;
  std::set<ServerName> expired_;
};

// Also before hbase:meta is loaded, because the load itself waits for hbase:meta to be online.
void Comparison::OfMeta() {
  if (at_.meta_is_being_created) return;
  const std::optional<RegionNode>& meta = at_.meta;
  if (meta) {
    if (meta->owner.valid() || IsRecent(*meta)) return;
    if (meta->location) {
      const SweepSnapshot::Server server = ServerOf(*meta);
      if (!server.known) {
        expired_.insert(*meta->location);
        repairs_.emplace_back(ExpireServer{
            *meta->location, "the record of hbase:meta's location names it, and the master does not know it", {}});
        return;
      }
      // A crashed server's crash procedure assigns hbase:meta first.
      if (server.meta_settlement == SettlementState::kAwait) return;
      if (server.meta_settlement == SettlementState::kServes && meta->state == RegionState::kOpen) return;
    }
  }
  const std::string encoded(kMetaEncodedName);
  Submit(encoded, at_.meta_was_created ? TransitRegionState::Assign(MetaRegionInfo(), {}) : InitMeta::Make(),
         {meta ? meta->location.value_or(ServerName{}) : ServerName{}, encoded,
          at_.meta_was_created ? fmt::format("was {} and no procedure owned it: assigned", StateOf(meta))
                               : std::string("was never created, and no procedure creates it: created")});
}

void Comparison::OfServers() {
  for (const auto& [server, regions] : at_.on_unknown_servers) {
    if (expired_.contains(server)) continue;
    for (const RegionNode& node : regions) {
      if (node.owner.valid() || IsRecent(node)) continue;
      repairs_.emplace_back(ExpireServer{
          server,
          "hbase:meta names it as the server of a region, and the master does not know it",
          {server, node.encoded, "has the region, but the master does not know the server: server expired"}});
      break;
    }
  }
}

void Comparison::OfRegion(const RegionNode& node) {
  const auto table = at_.table_states.find(node.info.table);
  if (table == at_.table_states.end() || IsRecent(node)) return;
  std::optional<SettlementState> settlement;
  if (node.location) {
    const SweepSnapshot::Server server = ServerOf(node);
    if (!server.known) return;  // OfServers
    settlement = server.settlement;
  }
  if (!IsLeftBehind(node, table->second, settlement)) return;
  if (node.unplaced && !at_.absent_everywhere.contains(node.encoded)) return;
  // A running split or merge opens the regions that it has closed or made.
  if (at_.of_reshapes.contains(node.encoded)) return;
  Submit(node.encoded, TransitRegionState::Assign(node.info, {}),
         {node.location.value_or(ServerName{}), node.encoded,
          fmt::format("was {} and no procedure owned it: {}", RegionStateText(node.state),
                      table->second == TableState::kDisabled ? "closed, as its table is disabled" : "assigned")});
}

void Comparison::OfTables() {
  constexpr std::size_t kSchemasAtOnce = 16;  // each is a few file operations
  ReadSchemas unread;
  for (const auto& [table, grant] : at_.unsettled_tables) {
    if (table.schema == nullptr && unread.tables.size() < kSchemasAtOnce) unread.tables.push_back(table.name);
    if (!IsBetween(table.state) || (grant && IsRunning(grant->pid))) continue;
    const bool enable = table.state == TableState::kEnabling;
    Submit("table " + table.name.ToString(), enable ? EnableTable::Make(table.name) : DisableTable::Make(table),
           {{},
            {},
            fmt::format("table {} was {} under {}, which has ended: {}", table.name.ToString(),
                        TableStateText(table.state), grant ? fmt::format("pid={}", grant->pid) : "a procedure",
                        enable ? "enabled" : "disabled")});
  }
  if (!unread.tables.empty()) repairs_.emplace_back(std::move(unread));
}

}  // namespace

std::vector<Repair> Diff(const SweepSnapshot& snapshot) {
  Comparison comparison(snapshot);
  comparison.OfSlots();
  comparison.OfOwners();
  comparison.OfMeta();
  comparison.OfServers();
  comparison.OfRegions();
  comparison.OfTables();
  return std::move(comparison).Repairs();
}

}  // namespace ratchet::master
