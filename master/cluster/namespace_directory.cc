#include "master/cluster/namespace_directory.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"

namespace ratchet::master {

std::optional<NamespaceDescriptor> NamespaceDirectory::Get(const std::string& name) const {
  const MutexLock lock(mutex_);
  if (const auto found = namespaces_.find(name); found != namespaces_.end()) return found->second;
  if (!IsReservedNamespace(name)) return std::nullopt;
  return NamespaceDescriptor{name, {}};
}

std::vector<NamespaceDescriptor> NamespaceDirectory::List() const {
  std::map<std::string, NamespaceDescriptor> all;
  for (const std::string_view name : {kDefaultNamespace, kSystemNamespace})
    all[std::string(name)] = NamespaceDescriptor{std::string(name), {}};
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, descriptor] : namespaces_) all[name] = descriptor;
  }
  std::vector<NamespaceDescriptor> list;
  list.reserve(all.size());
  for (auto& [name, descriptor] : all) list.push_back(std::move(descriptor));
  return list;
}

std::size_t NamespaceDirectory::size() const {
  const MutexLock lock(mutex_);
  return namespaces_.size();
}

void NamespaceDirectory::Show(const std::string& name, const std::string& record) {
  auto read = DecodeNamespace(record);
  if (!read.ok()) RATCHET_LOG(kError, "ignoring the record of namespace {}: {}", name, read.error().message());
  NamespaceDescriptor descriptor = read.ok() ? *std::move(read) : NamespaceDescriptor{};
  descriptor.name = name;
  const MutexLock lock(mutex_);
  namespaces_[name] = std::move(descriptor);
}

void NamespaceDirectory::Remove(const std::string& name) {
  const MutexLock lock(mutex_);
  namespaces_.erase(name);
}

// Pids are never reused, so an ended procedure makes no new claim.
void NamespaceDirectory::ForgetFinished() {
  std::vector<ProcId> claimants;
  {
    const MutexLock lock(mutex_);
    for (const auto& [pid, claim] : claims_) claimants.push_back(pid);
  }
  std::erase_if(claimants, is_unfinished_);
  const MutexLock lock(mutex_);
  for (const ProcId pid : claimants) claims_.erase(pid);
}

namespace {

// Present and reserved tables and regions of a namespace.
struct Usage {
  std::set<TableName> tables;
  std::map<TableName, std::size_t> regions;  // by table
  [[nodiscard]] std::size_t all_regions() const {
    std::size_t all = 0;
    for (const auto& [table, count] : regions) all += count;
    return all;
  }
};

Usage UsageOf(const TableDirectory& tables, const RegionDirectory& regions, const std::string& name) {
  Usage usage;
  for (const TableNode& table : tables.List()) {
    if (table.name.ns == name) usage.tables.insert(table.name);
  }
  regions.Visit([&](const RegionNode& node) {
    if (node.info.table.ns == name && HasItsRows(node.state)) ++usage.regions[node.info.table];
  });
  return usage;
}

// A new table's regions appear one after the other; daughters of a split appear after its write to hbase:meta.
void Count(const NamespaceDirectory::Claim& claim, Usage& usage) {
  std::size_t& regions = usage.regions[claim.table];
  if (!claim.makes_table) {
    regions += claim.regions;
    return;
  }
  usage.tables.insert(claim.table);
  regions = std::max(regions, claim.regions);
}

// Returns Ok if `claim` fits the namespace's limits in addition to the existing regions and the claims of `others`.
Status CheckRoom(Usage usage, const NamespaceDescriptor& limits,
                 const std::map<ProcId, NamespaceDirectory::Claim>& others, const NamespaceDirectory::Claim& claim) {
  const auto max_tables = limits.max_tables();
  const auto max_regions = limits.max_regions();
  // Counts new tables first, so that the split of a new table is added to the count of that table.
  for (const bool new_tables : {true, false}) {
    for (const auto& [pid, other] : others) {
      const bool counts = other.table.ns == limits.name && other.makes_table == new_tables;
      if (counts && !RATCHET_MUTANT("master.count_without_claims")) Count(other, usage);
    }
  }
  Count(claim, usage);
  if (claim.makes_table && max_tables && usage.tables.size() > *max_tables) {
    return QuotaExceeded(
        fmt::format("table {} cannot be created: namespace {} has a limit of {} tables, and has {} ({})",
                    claim.table.ToString(), limits.name, *max_tables, usage.tables.size() - 1, kMaxTablesProperty));
  }
  if (max_regions && usage.all_regions() > *max_regions) {
    return QuotaExceeded(fmt::format(
        "table {} cannot have {} more regions: namespace {} has a limit of {} regions, and would have {} with those "
        "being made ({}); running creations and splits count until they have ended",
        claim.table.ToString(), claim.regions, limits.name, *max_regions, usage.all_regions(), kMaxRegionsProperty));
  }
  return Ok();
}

}  // namespace

// Counts without the lock, and counts again if another claim was made meanwhile.
Status NamespaceDirectory::Take(ProcId pid, const Claim& claim) {
  if (claim.table.IsSystem()) return Ok();
  ForgetFinished();
  for (;;) {
    std::map<ProcId, Claim> others;
    std::uint64_t seen = 0;
    {
      const MutexLock lock(mutex_);
      others = claims_;
      seen = taken_;
    }
    others.erase(pid);
    const auto limits = Get(claim.table.ns);
    if (limits && (limits->max_tables() || limits->max_regions()))
      RATCHET_TRY(CheckRoom(UsageOf(tables_, regions_, limits->name), *limits, others, claim));
    const MutexLock lock(mutex_);
    if (taken_ != seen) continue;
    ++taken_;
    claims_[pid] = claim;
    return Ok();
  }
}

void NamespaceDirectory::Restore(ProcId pid, const Claim& claim) {
  const MutexLock lock(mutex_);
  claims_[pid] = claim;
}

void NamespaceDirectory::Release(ProcId pid) {
  const MutexLock lock(mutex_);
  claims_.erase(pid);
}

std::size_t NamespaceDirectory::claims() const {
  const MutexLock lock(mutex_);
  return claims_.size();
}

std::size_t NamespaceDirectory::TablesIn(const std::string& name) const {
  const auto tables = tables_.List();
  return static_cast<std::size_t>(
      std::count_if(tables.begin(), tables.end(), [&name](const TableNode& table) { return table.name.ns == name; }));
}

bool NamespaceDirectory::Exists(const std::string& name) const { return Get(name).has_value() || TablesIn(name) > 0; }

}  // namespace ratchet::master
