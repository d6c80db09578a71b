// The descriptor of a table and the rules that follow from it, shared by the regions of the table. Immutable; copies
// are cheap.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "common/base/mutex.h"
#include "common/model/table_descriptor.h"
#include "regionserver/store/row_selector.h"

namespace ratchet::regionserver {

class SharedTable {
 public:
  struct Content {
    explicit Content(TableDescriptor table);
    const TableDescriptor descriptor;
    const std::map<std::string, FamilyRules, std::less<>> families;
    // Families with REPLICATION_SCOPE 1; empty for a system table.
    const std::set<std::string, std::less<>> shipped_families;
  };

  SharedTable(TableDescriptor table = {})  // NOLINT: a descriptor is a table
      : content_(std::make_shared<const Content>(std::move(table))) {}
  explicit SharedTable(std::shared_ptr<const Content> content) : content_(std::move(content)) {}  // not null

  const TableDescriptor& operator*() const { return content_->descriptor; }
  const TableDescriptor* operator->() const { return &content_->descriptor; }
  [[nodiscard]] const std::shared_ptr<const Content>& content() const { return content_; }

 private:
  std::shared_ptr<const Content> content_;
};

// The descriptors of tables whose regions are open on this server, so that the regions of a table share one.
//
// Thread-safe.
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
