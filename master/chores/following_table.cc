#include "master/chores/following_table.h"

#include <utility>

#include "common/base/log.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/table/create_table.h"
#include "master/repair/table_comparison.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

void FollowingTable::Tick(SystemTable* cells) {
  if (cells == nullptr || !env_.meta_loaded.load()) return;
  const auto table = env_.tables.Get(source_.table.name);
  if (!table) {
    if (source_.is_needed()) MakeTable();
    return;
  }
  if (table->state != TableState::kEnabled) return;
  Wanted wanted = source_.wanted();
  {
    const MutexLock lock(mutex_);
    const bool same = held_ != nullptr && (held_ == wanted || *held_ == *wanted);
    if (working_ || (same && env_.clock.Now() < next_)) return;
    working_ = true;
  }
  Follow(*cells, std::move(wanted));
}

// A table that is being created is not in memory at once; a second creation is refused.
void FollowingTable::MakeTable() {
  if (LayoutIsInHand(*env_.executor, source_.table.name)) return;
  {
    const MutexLock lock(mutex_);
    if (working_) return;
    working_ = true;
  }
  env_.executor->SubmitAsync(CreateTable::Make(source_.table, {}), {},
                             [this, weak = std::weak_ptr<int>(alive_)](const Result<ProcId>& pid) {
                               if (weak.expired()) return;
                               if (!pid.ok()) RATCHET_LOG(kInfo, "{}: {}", Name(), pid.error().ToString());
                               End(Wanted());
                             });
}

std::vector<FollowingTable::Change> FollowingTable::Differences(const std::vector<SystemCell>& found,
                                                                const Cells& wanted) const {
  Cells there;
  for (const SystemCell& cell : found) {
    if (!source_.is_foreign || !source_.is_foreign(cell)) there[{cell.row, cell.qualifier}] = cell.value;
  }
  std::vector<Change> changes;
  for (const auto& [place, value] : wanted) {
    const auto old = there.find(place);
    const bool known = old != there.end();
    if (known && old->second == value) continue;
    changes.push_back({{place.row, place.qualifier, ""},
                       known ? SystemTable::Value(old->second) : std::nullopt,
                       SystemTable::Value(value)});
  }
  for (const auto& [place, value] : there) {
    if (!wanted.contains(place)) changes.push_back({{place.row, place.qualifier, ""}, value, std::nullopt});
  }
  return changes;
}

void FollowingTable::Follow(SystemTable& cells, Wanted wanted) {
  cells.ReadAll(source_.most_cells,
                [this, &cells, weak = std::weak_ptr<int>(alive_), wanted = std::move(wanted)](const auto& found) {
                  if (weak.expired()) return;
                  if (!found.ok()) return End(found.error());
                  auto changes = std::make_shared<std::vector<Change>>(Differences(*found, *wanted));
                  const bool all = changes->size() <= kMostAtOnce;
                  if (!all) changes->resize(kMostAtOnce);
                  Apply(cells, changes, 0, all ? wanted : Wanted());
                });
}

void FollowingTable::Apply(SystemTable& cells, const std::shared_ptr<std::vector<Change>>& changes, std::size_t next,
                           Wanted wanted) {
  if (next == changes->size()) return End(std::move(wanted));
  const Change& change = (*changes)[next];
  cells.Swap(change.cell, change.before, change.after,
             [this, &cells, weak = std::weak_ptr<int>(alive_), changes, next,
              wanted = std::move(wanted)](const auto& swapped) {
               if (weak.expired()) return;
               if (!swapped.ok()) return End(swapped.error());
               if (!*swapped) return End(Error(Code::kAborted, "another writer has changed the row"));
               Apply(cells, changes, next + 1, wanted);
             });
}

void FollowingTable::End(const Result<Wanted>& wanted) {
  if (!wanted.ok()) RATCHET_LOG(kDebug, "{}: {}", Name(), wanted.error().ToString());
  const MutexLock lock(mutex_);
  working_ = false;
  held_ = wanted.ok() ? *wanted : Wanted();
  next_ = env_.clock.Now() + kLookAgain;
}

}  // namespace ratchet::master
