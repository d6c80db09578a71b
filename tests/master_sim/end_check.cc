#include "tests/master_sim/end_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "master/env/cluster_files.h"
#include "master/storage/drop_marks.h"

namespace ratchet::simulation {
namespace {

// Successful creations, enablings, disablings and deletions of a table must have happened in an order in which each
// found the state that it needs. So their numbers determine whether the table exists, and its state.
void CheckTables(sim::SimCluster& cluster, const AdminClient& client, const Operators& operators) {
  const auto counts = client.Count();
  const std::set<TableName> meddled = client.TablesOf(operators.bypassed());
  std::set<TableName> names;
  for (const auto& [table, count] : counts) names.insert(table);
  for (const auto& [table, row] : cluster.meta().tables()) names.insert(table);
  for (const TableName& table : names) {
    const auto it = counts.find(table);
    if (table.IsSystem()) continue;  // the master makes and maintains them
    const TableCount count = it == counts.end() ? TableCount{} : it->second;
    const auto row = cluster.meta().tables().find(table);
    const bool there = row != cluster.meta().tables().end();
    const bool disabled = there && row->second.state == TableState::kDisabled;
    const std::string story = fmt::format("{} was created {}, enabled {}, disabled {}, deleted {} times, and is {}",
                                          table.ToString(), count.created, count.enabled, count.disabled, count.deleted,
                                          there ? TableStateText(row->second.state) : "not there");
    if (there && !disabled && row->second.state != TableState::kEnabled) cluster.Violation(story);
    if (there && !cluster.storage().tables.contains(row->second.directory)) {
      cluster.Violation(fmt::format("{} has no directory {}", table.ToString(), row->second.directory));
    }
    if (meddled.contains(table)) continue;  // operators ended a procedure, so any part may be done
    if (count.created - count.deleted != (there ? 1 : 0)) cluster.Violation(story);
    if (count.disabled - count.enabled - count.deleted != (disabled ? 1 : 0)) cluster.Violation(story);
  }
  std::set<std::string> named{master::TableDirectoryName(MetaTableName(), ProcId(1))};
  for (const auto& [table, row] : cluster.meta().tables()) named.insert(row.directory);
  for (const auto& [directory, files] : cluster.storage().tables) {
    // A CreateTable that was ended between its last mark and its table's row leaves a directory, which is shown as a
    // problem (S115: missing row is not evidence).
    const bool kept = !files.marks.empty() && !master::DropMarksIn(files.marks).may_go();
    if (!named.contains(directory) && !kept) cluster.Violation("no table has the directory " + directory);
  }
}

void CheckRegions(sim::SimCluster& cluster, const AdminClient& client, const Operators& operators) {
  const std::set<TableName> meddled = client.TablesOf(operators.bypassed());
  const std::set<std::string> asked_to_close = client.AskedToClose();
  for (const auto& [encoded, row] : cluster.meta().regions()) {
    if (row.state == RegionState::kSplit) continue;
    const auto table = cluster.meta().tables().find(row.region.table);
    if (table == cluster.meta().tables().end()) {
      // A CreateTable that was ended after the rows of its regions, and before its table's row, leaves them.
      if (!meddled.contains(row.region.table))
        cluster.Violation(fmt::format("region {} of {}, which is not there", encoded, row.region.table.ToString()));
      continue;
    }
    const bool open = row.state == RegionState::kOpen;
    const bool wanted = table->second.state == TableState::kEnabled;
    if (open != wanted && (open || !asked_to_close.contains(encoded))) {
      cluster.Violation(fmt::format("region {} is {}, its table is {}", encoded, RegionStateText(row.state),
                                    TableStateText(table->second.state)));
    }
    if (!open) continue;
    const sim::SimServer* server = row.location ? cluster.Find(*row.location) : nullptr;
    if (server == nullptr || !server->IsOpen(encoded)) continue;  // reported by CheckSettled
    const std::uint64_t value = server->regions().at(encoded).value;
    const std::uint64_t truth = cluster.storage().acknowledged[encoded];
    if (value != truth) cluster.Violation(fmt::format("region {} holds {}, acknowledged is {}", encoded, value, truth));
  }
}

// S48 (schema pinned in the order): every region that is open is served with the newest descriptor of its table, and no
// modification was lost: each descriptor has the families of the one before it.
void CheckDescriptors(sim::SimCluster& cluster, const AdminClient& client, const Operators& operators) {
  const std::set<TableName> meddled = client.TablesOf(operators.bypassed());
  for (const auto& [name, row] : cluster.meta().tables()) {
    const auto files = cluster.storage().tables.find(row.directory);
    if (files == cluster.storage().tables.end()) continue;  // reported by CheckTables
    // a modification that was ended early may be lost, or may not have reopened all regions
    if (meddled.contains(name)) continue;
    std::size_t families = 0;
    for (const auto& [number, descriptor] : files->second.descriptors) {
      if (descriptor.families.size() <= families) {
        cluster.Violation(fmt::format("descriptor {} of {} has lost a family", number, row.directory));
      }
      families = descriptor.families.size();
    }
    const std::uint64_t newest = files->second.descriptors.rbegin()->first;
    for (const auto& [encoded, region] : cluster.meta().regions()) {
      if (region.region.table != name || region.state != RegionState::kOpen || region.schema_number == newest) continue;
      cluster.Violation(fmt::format("region {} is open with descriptor {}, {} has {}", encoded, region.schema_number,
                                    row.directory, newest));
    }
  }
}

// Every file belongs to an owner: a region's directory to a region of its table, a log to a server that lives.
void CheckFiles(sim::SimCluster& cluster, const AdminClient& client, const Operators& operators) {
  std::map<std::string, std::set<std::string>> regions;  // by directory
  for (const auto& [encoded, row] : cluster.meta().regions()) {
    const auto table = cluster.meta().tables().find(row.region.table);
    if (table == cluster.meta().tables().end()) continue;
    regions[table->second.directory].insert(encoded);
    const auto files = cluster.storage().tables.find(table->second.directory);
    for (const RegionInfo& parent : row.merged_from) {  // until the janitor removes them
      const std::string name = parent.encoded_name();
      const bool there = files != cluster.storage().tables.end() && files->second.regions.contains(name);
      if (there) regions[table->second.directory].insert(name);
    }
  }
  for (const auto& [name, row] : cluster.meta().tables()) {
    const auto files = cluster.storage().tables.find(row.directory);
    if (files == cluster.storage().tables.end()) continue;  // reported by CheckTables
    const std::set<std::string>& wanted = regions[row.directory];
    const std::set<std::string>& found = files->second.regions;
    const bool all = std::includes(found.begin(), found.end(), wanted.begin(), wanted.end());
    const bool may_be_left = operators.bypassed_a_mend() || client.AnyReshapeOf(operators.bypassed());
    if (!all || (found.size() > wanted.size() && !may_be_left)) {
      cluster.Violation(fmt::format("{} has {} regions, and files of {}", name.ToString(), wanted.size(),
                                    files->second.regions.size()));
    }
  }
  for (const auto& [server, logs] : cluster.storage().logs) {
    const sim::SimServer* owner = cluster.Find(server);
    // An unregistered server has written no edits; the next master finds its directory at its start (S34: which servers
    // may be dead).
    const bool empty = owner != nullptr && !owner->registered && logs.edits.empty();
    if (!empty && (owner == nullptr || !owner->alive())) {
      cluster.Violation("the logs of " + server.ToString() + ", which is gone, are left");
    }
  }
}

}  // namespace

void CheckEnd(sim::SimCluster& cluster, const AdminClient& client, const Operators& operators) {
  CheckTables(cluster, client, operators);
  if (const std::string wrong = cluster.RangesInMeta(); !wrong.empty()) cluster.Violation(wrong);
  CheckDescriptors(cluster, client, operators);
  CheckFiles(cluster, client, operators);
  CheckRegions(cluster, client, operators);
  for (const procedure::LockInfo& lock : cluster.master().executor().Locks()) {
    cluster.Violation("a lock is left: " + lock.key.ToString());
  }
  if (!cluster.violations().empty()) return;
  if (const std::string wrong = cluster.CheckSettled(); !wrong.empty()) cluster.Violation(wrong);
}

}  // namespace ratchet::simulation
