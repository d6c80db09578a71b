#include "master/control/meta_comparison.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/env/master_env.h"
#include "master/state/region_directory.h"
#include "master/state/table_directory.h"
#include "procedure/executor.h"

namespace ratchet::master {
namespace {

RegionRow RowOf(const RegionNode& node) {
  return {node.info, node.state, node.location, node.location, node.open_sequence, node.transition, node.descriptor};
}

std::string TextOf(RegionState state, const std::optional<ServerName>& location, std::uint64_t transition) {
  const bool shown = state == RegionState::kOpen && location.has_value();
  return fmt::format("{}{} (transition {})", RegionStateText(state), shown ? " at " + location->ToString() : "",
                     transition);
}

// A number that was taken and is not the row's is a write of a procedure that has ended: it may still come.
bool Same(const RegionRow& row, const RegionNode& node) {
  const bool awaited = node.taken > row.transition && !RATCHET_MUTANT("reconciler.late_writes");
  return !awaited && row.state == node.state && row.transition == node.transition &&
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
    if (!contents.ok()) return End(contents.error(), done);
    // This may be the thread that takes the answers of all region servers; the table directories are listed below.
    auto judge = [this, alive, begun, done, read = std::make_shared<MetaContents>(std::move(*contents))] {
      if (alive.expired()) return;
      Judge(begun, *read);
      End(Ok(), done);
    };
    if (!env_.RunSlowWork(std::move(judge))) {
      End(Error(Code::kUnavailable, "too many other looks wait for the storage"), done);
    }
  });
}

void MetaComparison::End(const Status& status, const std::function<void(Status)>& done) {
  {
    const MutexLock lock(mutex_);
    running_ = false;
  }
  done(status);
}

std::map<std::string, std::string> MetaComparison::Doubts() const {
  const MutexLock lock(mutex_);
  return doubted_;
}

void MetaComparison::Rewrite(std::vector<MetaEdit> edits) {
  env_.meta.Write(std::move(edits), [](const Status& status) {
    // Stale: a procedure wrote the row meanwhile, which puts it right too. Anything else is found again.
    if (!status.ok()) RATCHET_LOG(kWarn, "Reconciler: hbase:meta not repaired: {}", status.error().ToString());
  });
}

void MetaComparison::JudgeRow(TimePoint begun, const RegionRow& row, const std::string& encoded,
                              const DirectoryOfTable& directories, const TablesInHand& in_hand,
                              master::Doubts& doubts) {
  const auto node = env_.regions.Get(encoded);
  if (node && node->unplaced) return;  // the servers decide (S71)
  if (node && (node->owner.valid() || node->last_update + grace_ > begun)) {
    // What is being written now has a number that was taken already; a higher one is another's, and the owner goes on
    // above it.
    if (node->owner.valid()) env_.regions.Take(encoded, row.transition);
    return;
  }
  if (const std::string left = WhyLeft(row.region, row.transition, directories, in_hand); !left.empty()) {
    MetaEdit edit;
    edit.kind = MetaEdit::Kind::kDeleteRegion;
    edit.region = row;
    ++edit.region.transition;
    doubts[encoded] = {fmt::format("has a row, but {}: row removed", left), [this, edit, encoded] {
                         env_.regions.Remove(encoded);
                         Rewrite({edit});
                       }};
    return;
  }
  if (!node) {
    if (!env_.tables.Exists(row.region.table) || in_hand.layouts.contains(row.region.table)) return;  // its table first
    doubts[encoded] = {"has a row and was not known: taken into the picture", [this, row] { env_.regions.Add(row); }};
    return;
  }
  if (Same(row, *node)) return;
  const std::string both =
      fmt::format("is {} in hbase:meta and {} in memory", TextOf(row.state, row.location, row.transition),
                  TextOf(node->state, node->location, node->transition));
  if (row.transition > node->taken) {
    doubts[encoded] = {both + ": a newer owner wrote it, left alone", [] {}};
    return;
  }
  // Up to the number that was taken here the row is this master's own: the write of a procedure that was ended
  // meanwhile.
  doubts[encoded] = {both + ": row rewritten", [this, encoded] {
                       if (const auto edit = EditOf(encoded)) Rewrite({*edit});
                     }};
}

std::optional<MetaEdit> MetaComparison::EditOf(const std::string& encoded) {
  std::optional<MetaEdit> edit;
  env_.regions.Update(encoded, [&](RegionNode& now) {
    if (now.owner.valid()) return;
    now.taken = std::max(now.taken, now.transition) + 1;
    now.transition = now.taken;
    edit.emplace();
    edit->kind = MetaEdit::Kind::kUpdateRegion;
    edit->region = RowOf(now);
  });
  return edit;
}

void MetaComparison::JudgeMissing(TimePoint begun, const std::set<std::string>& rows,
                                  const DirectoryOfTable& directories, const TablesInHand& in_hand,
                                  master::Doubts& doubts) {
  const auto missing = env_.regions.Select([&](const RegionNode& node) {
    if (node.info.IsMeta() || node.owner.valid() || rows.contains(node.encoded)) return false;
    return !in_hand.layouts.contains(node.info.table) && node.last_update + grace_ <= begun;
  });
  for (const RegionNode& node : missing) {
    const std::string& encoded = node.encoded;
    if (!WhyLeft(node.info, node.transition, directories, in_hand).empty()) {
      doubts[encoded] = {"has neither row nor table: forgotten", [this, encoded] { env_.regions.Remove(encoded); }};
      continue;
    }
    doubts[encoded] = {"had no row in hbase:meta: written again", [this, encoded] {
                         const auto rest = EditOf(encoded);  // the servers' columns
                         if (!rest) return;
                         MetaEdit made = *rest;
                         made.kind = MetaEdit::Kind::kCreateRegion;
                         Rewrite({made, *rest});
                       }};
  }
}

void MetaComparison::Judge(TimePoint begun, const MetaContents& contents) {
  // While a table comes or goes, its rows and its regions are not there together.
  const TablesInHand in_hand = FindTablesInHand(*env_.executor);
  const DirectoryOfTable directories = FindDirectories(env_, contents, in_hand);
  master::Doubts doubts;
  std::set<std::string> rows;
  for (const RegionRow& row : contents.regions) {
    const std::string& encoded = *rows.insert(row.region.encoded_name()).first;
    JudgeRow(begun, row, encoded, directories, in_hand, doubts);
  }
  JudgeMissing(begun, rows, directories, in_hand, doubts);
  JudgeTables(env_, contents, in_hand, doubts);
  JudgeDirectories(env_, contents, in_hand, doubts);
  ActOn(doubts);
}

void MetaComparison::ActOn(const master::Doubts& doubts) {
  std::map<std::string, std::string> before;
  {
    const MutexLock lock(mutex_);
    before.swap(doubted_);
    for (const auto& [key, doubt] : doubts) doubted_[key] = doubt.what;
  }
  for (const auto& [key, doubt] : doubts) {
    const auto known = before.find(key);
    if (known == before.end() || known->second != doubt.what) continue;
    {
      const MutexLock lock(mutex_);
      doubted_.erase(key);  // acted on; doubted anew if it is still there
    }
    const bool region = key.find(' ') == std::string::npos;
    note_(region ? key : std::string(), doubt.what);
    doubt.repair();
  }
}

}  // namespace ratchet::master
