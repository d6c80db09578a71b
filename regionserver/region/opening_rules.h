// OpeningRules has the parameters with which a region was opened, and derives the rules of its table's families and the
// limits that requests are checked against.
//
// Owner: Region. Immutable, so every thread may use it without a lock.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "regionserver/region/open_params.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/store/read_spec.h"
#include "regionserver/store/row_selector.h"

namespace ratchet::regionserver {

class OpeningRules {
 public:
  explicit OpeningRules(OpenParams params);

  [[nodiscard]] Status CheckRow(std::string_view row) const;
  [[nodiscard]] Status CheckColumns(const ColumnSelection& columns) const;
  [[nodiscard]] Status CheckCellSize(const CellView& cell) const;
  // Null: the table has no such family.
  [[nodiscard]] const FamilyRules* RulesFor(std::string_view family) const;
  [[nodiscard]] const std::map<std::string, FamilyRules, std::less<>>& families() const {
    return params.table.content()->families;
  }
  // Families whose writes are shipped to other clusters.
  [[nodiscard]] const std::set<std::string, std::less<>>& shipped_families() const {
    return params.table.content()->shipped_families;
  }
  // S113 (serial order of openings): the beginning and the end of this opening are recorded in the log and in the
  // manifest.
  [[nodiscard]] bool records_marks() const { return !shipped_families().empty() && !params.log_owner.empty(); }

  const OpenParams params;
  const std::string encoded_name;
  const KeyOrder order;
  const std::uint64_t max_cell_bytes;  // 0: no limit
};

}  // namespace ratchet::regionserver
