// The descriptor of a table and the rules that follow from it, shared by the regions of the table. Immutable; copies
// are cheap.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

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

}  // namespace ratchet::regionserver
