// TableCreations: creations of tables' rows in hbase:meta whose outcome is unknown (S173: only creations add table
// rows). The procedure may have ended meanwhile, because an operator bypassed it. Its table's row may still arrive. The
// list is in memory only, because no write of an earlier master can arrive after hbase:meta was loaded (S67: raise the
// epoch, then read meta). Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/model/table_name.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

class TableCreations {
 public:
  struct Creation {
    TableName table;
    std::string directory;
    friend auto operator<=>(const Creation&, const Creation&) = default;
  };
  TableCreations();

  // Announces the tables that `edits` create, if any. Call before the write is sent. Call the result when the outcome
  // is known, also after this object is destroyed.
  [[nodiscard]] std::function<void()> Announce(const std::vector<MetaEdit>& edits);
  [[nodiscard]] std::vector<Creation> InFlight() const;

 private:
  struct Announced;
  const std::shared_ptr<Announced> announced_;
};

}  // namespace ratchet::master
