// Cells that a mutation is going to write: reads of the same unit treat them as stored.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "regionserver/store/cell_cursor.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// Sequences from here on belong to pending cells only; every read point shows them.
inline constexpr std::uint64_t kFirstPendingSequence = UINT64_MAX - UINT32_MAX;

// In key order; of two cells of one version, the later one is newer. Each cell is inserted once, so a unit of many
// increments costs one look-up for each cell. Owner: the planner of one unit.
class PendingCells {
 public:
  explicit PendingCells(KeyOrder order) : cells_(Before{order}) {}
  // Adds the cells of `cells` that were not added before; `cells` grows only at its end.
  void AddNew(const std::vector<LoggedCell>& cells);
  [[nodiscard]] bool empty() const { return cells_.empty(); }
  // Returns a cursor over the added cells; valid until the next AddNew.
  [[nodiscard]] std::unique_ptr<CellCursor> NewCursor() const;

 private:
  struct Before {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return order(a, b); }
    KeyOrder order;
  };
  using Cells = std::map<std::string, std::string, Before>;  // encoded keys and values
  class Cursor;

  Cells cells_;
  std::size_t taken_ = 0;
};

}  // namespace ratchet::regionserver
