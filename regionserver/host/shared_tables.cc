#include "regionserver/host/shared_tables.h"

#include <algorithm>
#include <utility>

namespace ratchet::regionserver {

SharedTable SharedTables::Share(TableDescriptor table) {
  MutexLock lock(mutex_);
  std::weak_ptr<const SharedTable::Content>& newest = newest_[table.name.ToString()];
  if (auto there = newest.lock(); there != nullptr && there->descriptor == table) return SharedTable(std::move(there));
  SharedTable shared(std::move(table));
  newest = shared.content();
  if (newest_.size() >= clean_at_) {
    std::erase_if(newest_, [](const auto& each) { return each.second.expired(); });
    clean_at_ = std::max(kLeastToClean, 2 * newest_.size());
  }
  return shared;
}

std::size_t SharedTables::size() const {
  MutexLock lock(mutex_);
  return newest_.size();
}

}  // namespace ratchet::regionserver
