#include "master/assignment/meta_comparison.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/assignment/region_directory.h"
#include "master/assignment/table_directory.h"
#include "master/env/master_env.h"
#include "procedure/executor.h"

namespace ratchet::master {
namespace {

RegionRow RowOf(const RegionNode& node) {
  return {node.info, node.state, node.location, node.location, node.open_sequence, node.transition};
}

std::string TextOf(RegionState state, const std::optional<ServerName>& location, std::uint64_t transition) {
  const bool shown = state == RegionState::kOpen && location.has_value();
  return fmt::format("{}{} (transition {})", RegionStateText(state), shown ? " at " + location->ToString() : "", transition);
}

bool Same(const RegionRow& row, const RegionNode& node) {
  return row.state == node.state && row.transition == node.transition &&
         (row.state != RegionState::kOpen || row.location == node.location);
}

}  // namespace

void MetaComparison::Run(std::function<void(Status)> done) {
  if (!env_.meta_loaded.load()) return done(Error(Code::kUnavailable, "hbase:meta is not loaded yet"));
  bool busy = false;
  {
    const MutexLock lock(mutex_);
    busy = std::exchange(running_, true);
  }
  if (busy) return done(Error(Code::kUnavailable, "a comparison with hbase:meta is under way"));
  const TimePoint begun = env_.clock.Now();
  env_.meta.Scan([this, alive = std::weak_ptr(alive_), begun, done = std::move(done)](Result<MetaContents> contents) {
    if (alive.expired()) return;
    if (contents.ok()) Judge(begun, *contents);
    {
      const MutexLock lock(mutex_);
      running_ = false;
    }
    done(contents.ok() ? Ok() : Status(contents.error()));
  });
}

std::map<std::string, std::string> MetaComparison::Doubts() const {
  const MutexLock lock(mutex_);
  return doubted_;
}

void MetaComparison::Rewrite(MetaEdit edit) {
  env_.meta.Write({std::move(edit)}, [](const Status& status) {
    // Stale: a procedure wrote the row meanwhile, which puts it right too. Anything else is found again.
    if (!status.ok()) RATCHET_LOG(kWarn, "Reconciler: hbase:meta not repaired: {}", status.error().ToString());
  });
}

void MetaComparison::JudgeRow(TimePoint begun, const RegionRow& row, bool tables_change,
                              std::map<std::string, Doubt>& doubts) {
  const std::string encoded = row.region.encoded_name();
  const auto node = env_.regions.Get(encoded);
  if (node && node->unplaced) return;  // the servers decide (S71)
  if (!node) {
    if (tables_change) return;
    if (env_.tables.Exists(row.region.table)) {
      doubts[encoded] = {"has a row and was not known: taken into the picture", [this, row] { env_.regions.Add(row); }};
    } else {
      MetaEdit edit;
      edit.kind = MetaEdit::Kind::kDeleteRegion;
      edit.region = row;
      ++edit.region.transition;
      doubts[encoded] = {fmt::format("has a row, but table {} is not there: row removed", row.region.table.ToString()),
                         [this, edit] { Rewrite(edit); }};
    }
    return;
  }
  if (node->owner.valid() || node->last_update + grace_ > begun || Same(row, *node)) return;
  const std::string both = fmt::format("is {} in hbase:meta and {} in memory", TextOf(row.state, row.location, row.transition),
                                       TextOf(node->state, node->location, node->transition));
  if (row.transition > node->transition) {
    doubts[encoded] = {both + ": somebody newer wrote it, left alone", [] {}};
    return;
  }
  MetaEdit edit;
  edit.kind = MetaEdit::Kind::kUpdateRegion;
  edit.region = RowOf(*node);
  doubts[encoded] = {both + ": row rewritten", [this, edit] { Rewrite(edit); }};
}

void MetaComparison::Judge(TimePoint begun, const MetaContents& contents) {
  // While a table comes or goes, its rows and its regions are not there together.
  const bool tables_change =
      !env_.executor->FindUnfinished("CreateTable").empty() || !env_.executor->FindUnfinished("DeleteTable").empty();
  std::map<std::string, Doubt> doubts;
  std::set<std::string> rows;
  for (const RegionRow& row : contents.regions) {
    rows.insert(row.region.encoded_name());
    JudgeRow(begun, row, tables_change, doubts);
  }
  for (const RegionNode& node : env_.regions.All()) {
    const std::string encoded = node.info.encoded_name();
    if (tables_change || node.info.IsMeta() || node.owner.valid() || rows.contains(encoded)) continue;
    if (node.last_update + grace_ > begun) continue;
    MetaEdit edit;
    edit.kind = MetaEdit::Kind::kCreateRegion;
    edit.region = RowOf(node);
    MetaEdit rest = edit;  // the servers' columns
    rest.kind = MetaEdit::Kind::kUpdateRegion;
    doubts[encoded] = {"had no row in hbase:meta: written again", [this, edit, rest] {
                         env_.meta.Write({edit, rest}, [](const Status& status) {
                           if (!status.ok()) RATCHET_LOG(kWarn, "Reconciler: row not written: {}", status.error().ToString());
                         });
                       }};
  }
  std::map<std::string, std::string> before;
  {
    const MutexLock lock(mutex_);
    before.swap(doubted_);
    for (const auto& [encoded, doubt] : doubts) doubted_[encoded] = doubt.what;
  }
  for (const auto& [encoded, doubt] : doubts) {
    const auto known = before.find(encoded);
    if (known == before.end() || known->second != doubt.what) continue;
    {
      const MutexLock lock(mutex_);
      doubted_.erase(encoded);  // acted on; doubted anew if it is still there
    }
    note_(encoded, doubt.what);
    doubt.repair();
  }
}

}  // namespace ratchet::master
