#include "master/repair/table_survey.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "master/cluster/key_ranges.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_creations.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/procedures/core/master_env.h"
#include "master/repair/table_comparison.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

constexpr int kPause = 50;  // multiple of the duration of the last check

std::set<std::string> InBoth(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

bool InHand(const MasterEnv& env, const TableName& table) {
  // A row that is on its way needs its directory, S173 (only creations add table rows). Read after the procedures, so
  // that none ends in between unseen.
  const bool in_hand = LayoutIsInHand(*env.executor, table) || ReshapeIsInHand(*env.executor, table) ||
                       !env.creations.MayMakeRegions(table, ProcId()).ok();
  return in_hand && !RATCHET_MUTANT("survey.take_what_is_in_hand");
}

}  // namespace

std::vector<TableNode> TableSurvey::Tables() {
  std::vector<TableNode> tables = env_.tables.List();
  std::erase_if(tables, [](const TableNode& table) { return table.name.IsMeta(); });
  std::set<TableName> names;
  for (const TableNode& table : tables) names.insert(table.name);
  const PartLock lock(mutex_);
  std::erase_if(before_, [&names](const auto& each) { return !names.contains(each.first); });
  std::erase_if(shown_, [&names](const auto& each) { return !names.contains(each.first); });
  return tables;
}

void TableSurvey::LookAtNext() {
  const TimePoint begun = env_.clock.Now();
  {
    const PartLock lock(mutex_);
    if (begun < next_) return;
  }
  const std::vector<TableNode> tables = Tables();
  if (tables.empty()) return;
  std::size_t at = 0;
  {
    const PartLock lock(mutex_);
    const TableName last = last_;
    const auto next =
        std::find_if(tables.begin(), tables.end(), [&last](const TableNode& table) { return last < table.name; });
    at = next == tables.end() ? 0 : static_cast<std::size_t>(next - tables.begin());
    last_ = tables[at].name;
  }
  Look(tables[at]);
  const PartLock lock(mutex_);
  const TimePoint ended = env_.clock.Now();
  next_ = ended + kPause * (ended - begun);
}

void TableSurvey::LookAtAll() {
  for (const TableNode& table : Tables()) Look(table);
}

// Lists directories first: a directory made later belongs to a procedure that is unfinished below, or to a region in
// memory.
TableSurvey::Found TableSurvey::Judge(const TableNode& table) const {
  Found found;
  const auto listed = env_.files.ListRegionDirectories(table.directory);
  if (InHand(env_, table.name)) return found;
  const std::vector<RegionNode> regions = env_.regions.OfTable(table.name);
  const std::vector<std::string> ranges = RangeProblems(table.name, regions, kShownPerTable);
  found.problems.insert(ranges.begin(), ranges.end());
  if (!listed.ok() && listed.error().code() == Code::kNotFound) {
    found.problems.insert(
        fmt::format("directory data/{} of table {} is missing: restore it, or disable and drop the table",
                    table.directory, table.name.ToString()));
  }
  if (!listed.ok()) return found;
  found.unknown.insert(listed->begin(), listed->end());
  for (const RegionNode& node : regions) {
    const std::string encoded = node.info.encoded_name();
    if (found.unknown.erase(encoded) > 0) continue;
    found.problems.insert(fmt::format(
        "region {} of table {} has no directory, so it cannot open: restore data/{}/{}, or run 'ratchet give-up {}'",
        encoded, table.name.ToString(), table.directory, encoded, encoded));
  }
  if (Uncovered({}, regions).empty() || RATCHET_MUTANT("survey.take_beside_holes")) return found;
  for (const std::string& encoded : found.unknown) {
    found.problems.insert(
        fmt::format("no record names directory data/{}/{}, which may hold rows of table {} that have no region; it is "
                    "kept until each row has a region",
                    table.directory, encoded, table.name.ToString()));
  }
  found.unknown.clear();
  return found;
}

void TableSurvey::Look(const TableNode& table) {
  Found now = Judge(table);
  std::set<std::string> unknown;
  {
    const PartLock lock(mutex_);
    Found& before = before_[table.name];
    unknown = InBoth(before.unknown, now.unknown);
    const std::set<std::string> problems = InBoth(before.problems, now.problems);
    std::vector<std::string> shown(problems.begin(), problems.end());
    if (shown.size() > kShownPerTable) {
      const std::size_t more = shown.size() - kShownPerTable;
      shown.resize(kShownPerTable);
      shown.push_back(fmt::format("table {}: {} more such problems", table.name.ToString(), more));
    }
    for (const std::string& problem : shown) {
      const auto known = shown_.find(table.name);
      const bool old = known != shown_.end() &&
                       std::find(known->second.begin(), known->second.end(), problem) != known->second.end();
      if (!old) RATCHET_LOG(kError, "Reconciler: {}", problem);
    }
    if (shown.empty()) {
      shown_.erase(table.name);
    } else {
      shown_[table.name] = std::move(shown);
    }
    before = std::move(now);
  }
  QuarantineUnknown(table, unknown);
}

// Names are never reused (S31: names are never reused), so no procedure can start to need these directories meanwhile.
void TableSurvey::QuarantineUnknown(const TableNode& table, const std::set<std::string>& twice) {
  for (const std::string& encoded : twice) {
    const auto moved =
        env_.files.QuarantineRegion(table.directory, encoded, fmt::format("unknown-{}", env_.executor->epoch()));
    if (!moved.ok()) {
      RATCHET_LOG(kWarn, "Reconciler: cannot move data/{}/{} to quarantine: {}", table.directory, encoded,
                  moved.error().ToString());
      continue;
    }
    note_(encoded,
          fmt::format("no record of table {} names its directory: moved to {}", table.name.ToString(), *moved));
  }
}

std::vector<std::string> TableSurvey::Problems() const {
  const PartLock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [table, problems] : shown_) {
    for (const std::string& problem : problems) {
      if (all.size() == kShown) {
        all.push_back("more tables have such problems; see the master's log");
        return all;
      }
      all.push_back(problem);
    }
  }
  return all;
}

}  // namespace ratchet::master
