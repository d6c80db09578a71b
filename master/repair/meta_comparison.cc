#include "master/repair/meta_comparison.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/master_env.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

RegionRow RowOf(const RegionNode& node) {
  return {node.info, node.state, node.location, node.location, node.open_sequence, node.transition, node.schema_number};
}

std::string TextOf(RegionState state, const std::optional<ServerName>& location, std::uint64_t transition) {
  const bool shown = state == RegionState::kOpen && location.has_value();
  return fmt::format("{}{} (transition {})", RegionStateText(state), shown ? " at " + location->ToString() : "",
                     transition);
}

// A reserved transition number above the row's belongs to a write of an ended procedure; that write may still arrive.
bool Same(const RegionRow& row, const RegionNode& node) {
  const bool awaited = node.reserved > row.transition && !RATCHET_MUTANT("reconciler.late_writes");
  return !awaited && row.state == node.state && row.transition == node.transition &&
         (row.state != RegionState::kOpen || row.location == node.location);
}

}  // namespace

void MetaComparison::Run(std::function<void(Status)> done) {
  if (!env_.meta_loaded.load()) return done(Error(Code::kUnavailable, "hbase:meta is not loaded yet"));
  bool busy = false;
  {
    const PartLock lock(mutex_);
    busy = std::exchange(running_, true);
  }
  if (busy) return done(Error(Code::kUnavailable, "a comparison with hbase:meta is already running"));
  const TimePoint begun = env_.clock.Now();
  // Read before the scan: a row that arrives after the scan passed its place is not missing, S173 (only creations add
  // table rows).
  auto creations = env_.creations.InFlight();
  env_.meta.Scan([this, alive = std::weak_ptr(alive_), begun, creations = std::move(creations),
                  done = std::move(done)](Result<MetaContents> contents) {
    if (alive.expired()) return;
    if (!contents.ok()) return End(contents.error(), done);
    // Runs elsewhere, because this may be the thread that handles the answers of all region servers, and the table
    // directories are listed below.
    auto judge = [this, alive, begun, creations, done, read = std::make_shared<MetaContents>(std::move(*contents))] {
      if (alive.expired()) return;
      Judge(begun, creations, *read);
      End(Ok(), done);
    };
    if (!env_.RunSlowWork(std::move(judge))) {
      End(Error(Code::kUnavailable, "too many other checks wait for the storage"), done);
    }
  });
}

void MetaComparison::End(const Status& status, const std::function<void(Status)>& done) {
  {
    const PartLock lock(mutex_);
    running_ = false;
  }
  done(status);
}

std::vector<std::string> MetaComparison::Problems() const {
  const PartLock lock(mutex_);
  return problems_;
}

std::map<std::string, std::string> MetaComparison::Inconsistencies() const {
  const PartLock lock(mutex_);
  return doubted_;
}

void MetaComparison::Rewrite(std::vector<MetaEdit> edits, std::function<void()> known) {
  env_.meta.Write(std::move(edits), [known = std::move(known)](const Status& status) {
    if (known) known();
    // kStale: a procedure wrote the row meanwhile, which also repairs it. The next comparison finds anything else
    // again.
    if (!status.ok()) RATCHET_LOG(kWarn, "Reconciler: cannot repair hbase:meta: {}", status.error().ToString());
  });
}

void MetaComparison::JudgeRow(TimePoint begun, const RegionRow& row, const std::string& encoded,
                              const DirectoryOfTable& directories, const TablesInHand& in_hand,
                              master::Inconsistencies& inconsistencies) {
  const auto node = env_.regions.Get(encoded);
  if (node && node->unplaced) return;  // the servers decide (S71: ask servers for unplaced regions)
  if (node && (node->owner.valid() || node->last_update + grace_ > begun)) {
    // A write in progress has a number that was already reserved. A higher number is from another writer, and the owner
    // must use a number above it.
    if (node->owner.valid()) env_.regions.Reserve(encoded, row.transition);
    return;
  }
  if (!node && IsOfCreation(row.region, in_hand)) return;
  if (const std::string left = WhyLeft(row.region, row.transition, directories, in_hand); !left.empty()) {
    MetaEdit edit;
    edit.kind = MetaEdit::Kind::kDeleteRegion;
    edit.region = row;
    ++edit.region.transition;
    inconsistencies[encoded] = {fmt::format("has a row, but {}: row removed", left), [this, edit, encoded] {
                                  env_.regions.Remove(encoded);
                                  Rewrite({edit});
                                }};
    return;
  }
  if (!node) {
    // the table is repaired first
    if (!env_.tables.Exists(row.region.table) || in_hand.layouts.contains(row.region.table)) return;
    inconsistencies[encoded] = {"has a row and was unknown: added to memory", [this, row] { env_.regions.Add(row); }};
    return;
  }
  if (Same(row, *node)) return;
  const std::string both =
      fmt::format("is {} in hbase:meta and {} in memory", TextOf(row.state, row.location, row.transition),
                  TextOf(node->state, node->location, node->transition));
  if (row.transition > node->reserved) {
    inconsistencies[encoded] = {both + ": a newer owner wrote it, not changed", [] {}};
    return;
  }
  // A row with a number up to the reserved one was written by this master, for a procedure that was ended meanwhile.
  inconsistencies[encoded] = {both + ": row rewritten", [this, encoded] {
                                if (const auto edit = EditOf(encoded)) Rewrite({*edit});
                              }};
}

std::optional<MetaEdit> MetaComparison::EditOf(const std::string& encoded) {
  std::optional<MetaEdit> edit;
  env_.regions.Update(encoded, [&](RegionNode& now) {
    if (now.owner.valid()) return;
    now.reserved = std::max(now.reserved, now.transition) + 1;
    now.transition = now.reserved;
    edit.emplace();
    edit->kind = MetaEdit::Kind::kUpdateRegion;
    edit->region = RowOf(now);
  });
  return edit;
}

// Announces the creation before it reads the region's owner. So a MendTable that becomes the owner later knows of it,
// S173 (only creations add table rows).
void MetaComparison::WriteAgain(const RegionInfo& region) {
  MetaEdit made;
  made.kind = MetaEdit::Kind::kCreateRegion;
  made.region.region = region;
  auto known = env_.creations.Announce(ProcId(), {made});
  const auto rest = EditOf(region.encoded_name());  // columns that region servers would write
  if (!rest) return known();
  made.region = rest->region;
  Rewrite({made, *rest}, std::move(known));
}

void MetaComparison::JudgeMissing(TimePoint begun, const std::set<std::string>& rows,
                                  const DirectoryOfTable& directories, const TablesInHand& in_hand,
                                  master::Inconsistencies& inconsistencies) {
  const auto missing = env_.regions.Select([&](const RegionNode& node) {
    if (node.info.IsMeta() || node.owner.valid() || rows.contains(node.encoded)) return false;
    return !in_hand.layouts.contains(node.info.table) && node.last_update + grace_ <= begun;
  });
  for (const RegionNode& node : missing) {
    const std::string& encoded = node.encoded;
    if (!WhyLeft(node.info, node.transition, directories, in_hand).empty()) {
      inconsistencies[encoded] = {"has neither row nor table: removed from memory",
                                  [this, encoded] { env_.regions.Remove(encoded); }};
      continue;
    }
    inconsistencies[encoded] = {"had no row in hbase:meta: written again",
                                [this, info = node.info] { WriteAgain(info); }};
  }
}

void MetaComparison::Judge(TimePoint begun, const std::vector<TableCreations::Creation>& creations,
                           const MetaContents& contents) {
  // While a table is created or deleted, its rows and its in-memory regions differ.
  const TablesInHand in_hand = FindTablesInHand(env_, creations);
  const DirectoryOfTable directories = FindDirectories(env_, contents, in_hand);
  master::Inconsistencies inconsistencies;
  std::set<std::string> rows;
  for (const RegionRow& row : contents.regions) {
    const std::string& encoded = *rows.insert(row.region.encoded_name()).first;
    JudgeRow(begun, row, encoded, directories, in_hand, inconsistencies);
  }
  JudgeMissing(begun, rows, directories, in_hand, inconsistencies);
  JudgeTables(env_, contents, in_hand, inconsistencies);
  JudgeDirectories(env_, contents, in_hand, inconsistencies);
  if (auto why = WhyRowsAreMissing(env_, contents)) {
    for (auto& [key, inconsistency] : inconsistencies) inconsistency.repair = {};
    inconsistencies.insert_or_assign("hbase:meta", Inconsistency{std::move(*why), {}});
  }
  ActOn(inconsistencies);
}

void MetaComparison::ActOn(const master::Inconsistencies& inconsistencies) {
  std::map<std::string, std::string> before;
  std::vector<std::string> problems;
  {
    const PartLock lock(mutex_);
    before.swap(doubted_);
    for (const auto& [key, inconsistency] : inconsistencies) {
      doubted_[key] = inconsistency.what;
      const auto known = before.find(key);
      const bool twice = known != before.end() && known->second == inconsistency.what;
      if (!inconsistency.repair && twice && problems.size() < kMostProblems) problems.push_back(inconsistency.what);
    }
    problems_ = std::move(problems);
  }
  for (const auto& [key, inconsistency] : inconsistencies) {
    const auto known = before.find(key);
    if (known == before.end() || known->second != inconsistency.what || !inconsistency.repair) continue;
    {
      const PartLock lock(mutex_);
      doubted_.erase(key);  // repaired; reported again if the inconsistency remains
    }
    const bool region = key.find(' ') == std::string::npos;
    note_(region ? key : std::string(), inconsistency.what);
    inconsistency.repair();
  }
}

}  // namespace ratchet::master
