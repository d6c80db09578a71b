#include "master/cluster/table_creations.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"

namespace ratchet::master {
namespace {

// Regions of one table. A write may create very many regions, so they are not listed.
struct OfRegions {
  TableName table;
  ProcId maker;
  friend auto operator<=>(const OfRegions&, const OfRegions&) = default;
};

// Returns true if one of the creations has this table and another maker.
bool AnyOther(const auto& creations, const TableName& table, ProcId maker) {
  return std::ranges::any_of(creations,
                             [&](const auto& other) { return other.table == table && other.maker != maker; });
}

template <class Creation>
void EraseOne(const Creation& creation, std::multiset<Creation>& in_flight) {
  const auto at = in_flight.find(creation);
  if (at != in_flight.end()) in_flight.erase(at);
}

}  // namespace

struct TableCreations::Announced {
  Mutex mutex;
  std::multiset<Creation> tables GUARDED_BY(mutex);
  std::multiset<OfRegions> regions GUARDED_BY(mutex);
};

TableCreations::TableCreations() : announced_(std::make_shared<Announced>()) {}

std::function<void()> TableCreations::Announce(ProcId maker, const std::vector<MetaEdit>& edits) {
  std::vector<Creation> tables;
  std::vector<OfRegions> regions;
  for (const MetaEdit& edit : edits) {
    if (edit.kind == MetaEdit::Kind::kCreateTable && !RATCHET_MUTANT("master.forget_creations"))
      tables.push_back({edit.table.table, edit.table.directory, maker});
    if (edit.kind != MetaEdit::Kind::kCreateRegion) continue;
    const TableName& table = edit.region.region.table;
    if (regions.empty() || regions.back().table != table) regions.push_back({table, maker});
  }
  if (tables.empty() && regions.empty()) return [] {};
  {
    const MutexLock lock(announced_->mutex);
    announced_->tables.insert(tables.begin(), tables.end());
    announced_->regions.insert(regions.begin(), regions.end());
  }
  return [announced = announced_, tables = std::move(tables), regions = std::move(regions)] {
    const MutexLock lock(announced->mutex);
    for (const Creation& creation : tables) EraseOne(creation, announced->tables);
    for (const OfRegions& creation : regions) EraseOne(creation, announced->regions);
  };
}

std::vector<TableCreations::Creation> TableCreations::InFlight() const {
  const MutexLock lock(announced_->mutex);
  return {announced_->tables.begin(), announced_->tables.end()};
}

Status TableCreations::MayMakeTable(const TableName& table, ProcId maker) const {
  const MutexLock lock(announced_->mutex);
  if (!AnyOther(announced_->tables, table, maker)) return Ok();
  return Error(Code::kUnavailable,
               fmt::format("waits until it is known whether hbase:meta gets another table {}, whose creation was ended "
                           "during its write",
                           table.ToString()));
}

Status TableCreations::MayMakeRegions(const TableName& table, ProcId maker) const {
  const MutexLock lock(announced_->mutex);
  if (!AnyOther(announced_->regions, table, maker)) return Ok();
  return Error(Code::kUnavailable,
               fmt::format("waits until it is known whether hbase:meta gets other regions of table {} that are on "
                           "their way",
                           table.ToString()));
}

}  // namespace ratchet::master
