// The descriptors of tables whose regions are open on this server, so that the regions of a table share one.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "common/base/mutex.h"
#include "common/model/table_descriptor.h"
#include "regionserver/region/shared_table.h"

namespace ratchet::regionserver {

class SharedTables {
 public:
  // Returns what was shared last under the table's name if a region still has it and it is equal, else `table`.
  [[nodiscard]] SharedTable Share(TableDescriptor table);
  // Returns the number of kept names; those of tables without regions are dropped now and then.
  [[nodiscard]] std::size_t size() const;

 private:
  static constexpr std::size_t kLeastToClean = 64;
  mutable Mutex mutex_;
  std::map<std::string, std::weak_ptr<const SharedTable::Content>> newest_ GUARDED_BY(mutex_);
  std::size_t clean_at_ GUARDED_BY(mutex_) = kLeastToClean;
};

}  // namespace ratchet::regionserver
