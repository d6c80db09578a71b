// TableCreations: creations of rows of tables and regions in hbase:meta whose outcome is unknown (S173: only creations
// add table rows). The procedure may have ended meanwhile, because an operator bypassed it. Its rows may still arrive.
// The list is in memory only, because no write of an earlier master can arrive after hbase:meta was loaded (S67: raise
// the epoch, then read meta). Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/table_name.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

class TableCreations {
 public:
  struct Creation {
    TableName table;
    std::string directory;
    ProcId maker;
    friend auto operator<=>(const Creation&, const Creation&) = default;
  };
  TableCreations();

  // Announces the tables that `edits` create, and the tables whose regions they create. `maker`: the procedure; no
  // valid one for the comparison with hbase:meta. Call before the write is sent. Call the result when the outcome is
  // known, also after this object is destroyed.
  [[nodiscard]] std::function<void()> Announce(ProcId maker, const std::vector<MetaEdit>& edits);
  // The creations of tables.
  [[nodiscard]] std::vector<Creation> InFlight() const;
  // Ok if no creation of the table, or of a region of it, by another maker is in flight; otherwise kUnavailable.
  [[nodiscard]] Status MayMakeTable(const TableName& table, ProcId maker) const;
  [[nodiscard]] Status MayMakeRegions(const TableName& table, ProcId maker) const;

 private:
  struct Announced;
  const std::shared_ptr<Announced> announced_;
};

}  // namespace ratchet::master
