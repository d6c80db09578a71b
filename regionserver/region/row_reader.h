// Reads rows out of a read point: collects the stored cells of a row and lets row_selector choose.
//
// One thread at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "regionserver/region/region_core.h"

namespace ratchet::regionserver {

// All memstores and files of a view.
[[nodiscard]] std::unique_ptr<CellCursor> NewViewCursor(const StoreView& view, KeyOrder order);

class RowReader {
 public:
  using Families = std::map<std::string, FamilyRules, std::less<>>;
  RowReader(const Families& families, ReadPoint point, KeyOrder order);

  // The selected cells of `row`. `pending`: cells that count as if they were stored already, the later the newer.
  [[nodiscard]] Result<std::vector<Cell>> Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms,
                                               const std::vector<LoggedCell>* pending = nullptr);

  // The nearest row that has any stored cell, visible or not.
  [[nodiscard]] Result<std::optional<std::string>> RowAtOrAfter(std::string_view row, bool inclusive);
  [[nodiscard]] Result<std::optional<std::string>> RowAtOrBefore(std::string_view row, bool inclusive);
  [[nodiscard]] Result<std::optional<std::string>> LastRow();

  [[nodiscard]] std::uint64_t read_point() const { return point_.sequence; }

 private:
  // Appends what is readable under `prefix`, in order; `puts` tells which versions of a column can be left out.
  Status Collect(const std::string& prefix, ExistingPuts* puts, std::vector<StoredCell>& out);
  Status CollectFamily(const std::string& row, const std::string& family, const std::vector<std::string>* qualifiers,
                       ExistingPuts* puts, std::vector<StoredCell>& out);
  void SkipColumn();
  Result<std::optional<std::string>> RowHere() const;

  const Families& families_;
  const ReadPoint point_;
  const KeyOrder order_;
  const std::unique_ptr<CellCursor> cursor_;
};

}  // namespace ratchet::regionserver
