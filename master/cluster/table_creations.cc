#include "master/cluster/table_creations.h"

#include <set>

#include "common/base/mutant.h"
#include "common/base/mutex.h"

namespace ratchet::master {

struct TableCreations::Announced {
  Mutex mutex;
  std::multiset<Creation> in_flight GUARDED_BY(mutex);
};

TableCreations::TableCreations() : announced_(std::make_shared<Announced>()) {}

std::function<void()> TableCreations::Announce(const std::vector<MetaEdit>& edits) {
  std::vector<Creation> creations;
  for (const MetaEdit& edit : edits) {
    if (edit.kind == MetaEdit::Kind::kCreateTable) creations.push_back({edit.table.table, edit.table.directory});
  }
  if (creations.empty() || RATCHET_MUTANT("master.forget_creations")) return [] {};
  {
    const MutexLock lock(announced_->mutex);
    announced_->in_flight.insert(creations.begin(), creations.end());
  }
  return [announced = announced_, creations = std::move(creations)] {
    const MutexLock lock(announced->mutex);
    for (const Creation& creation : creations) announced->in_flight.erase(announced->in_flight.find(creation));
  };
}

std::vector<TableCreations::Creation> TableCreations::InFlight() const {
  const MutexLock lock(announced_->mutex);
  return {announced_->in_flight.begin(), announced_->in_flight.end()};
}

}  // namespace ratchet::master
