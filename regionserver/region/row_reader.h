// Reads single rows: for Gets, and for mutations that depend on stored cells.
//
// One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "regionserver/region/pending_cells.h"
#include "regionserver/region/region_data.h"
#include "regionserver/region/requests.h"
#include "regionserver/region/view_cursor.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/row_selector.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// Cells that a mutation treats as stored, in the order of their age; null: none.
struct PendingOfRow {
  const PendingCells* staged = nullptr;   // in the log's queue
  const PendingCells* planned = nullptr;  // of the mutation's own unit
};

class RowReader {
 public:
  using Families = std::map<std::string, FamilyRules, std::less<>>;
  // `max_row_bytes` is the limit of one row; larger rows are refused with HBase's RowTooBigException.
  // With kCache it ends as GetSpec::cached_only describes.
  RowReader(const Families& families, ReadPoint point, KeyOrder order, std::uint64_t max_row_bytes,
            ReadSource from = ReadSource::kDisk);

  // Gives the selected cells of `row` to `sink`, at most `most` of them (0: all).
  Status Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms, CellSink& sink, std::uint64_t most = 0,
              const PendingOfRow& pending = {});
  [[nodiscard]] Result<std::vector<Cell>> Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms,
                                               const PendingOfRow& pending = {});

  // Returns the nearest row that has any stored cell, visible or not.
  [[nodiscard]] Result<std::optional<std::string>> RowAtOrBefore(std::string_view row, bool inclusive);

 private:
  Status ReadFrom(CellCursor& cursor, const std::string& row, const ReadSpec& spec, std::int64_t now_ms, CellSink& sink,
                  std::uint64_t most) const;
  Status ReadFiltered(CellCursor& cursor, const std::string& row, const RowQuery& query, ReadFilter& filter,
                      std::int64_t now_ms, CellSink& sink, std::uint64_t most) const;

  // Returns the cursor for reads of `row`, which skips files without the row.
  CellCursor& CursorOf(const std::string& row);

  const Families& families_;
  const KeyOrder order_;
  const ReadPoint point_;
  const std::uint64_t max_row_bytes_;
  const ReadSource from_;
  std::optional<ViewCursor> all_rows_;  // made by RowAtOrBefore
  std::optional<ViewCursor> one_row_;   // of row_
  std::string row_;
};

}  // namespace ratchet::regionserver
