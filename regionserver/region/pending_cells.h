// Cells that a mutation is going to write: reads of the same unit count them as stored already.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "regionserver/log/log_entry.h"
#include "regionserver/store/cell_cursor.h"

namespace ratchet::regionserver {

// Sequences from here on are no stored cell's: those of pending cells, which every read point shows.
inline constexpr std::uint64_t kFirstPendingSequence = UINT64_MAX - UINT32_MAX;

// In key order; of cells of one version the later one is the newer. Each cell is put in its place once, so a unit of
// very many increments takes no more than its number of cells, times a look-up. Owner: the planner of one unit.
class PendingCells {
 public:
  explicit PendingCells(KeyOrder order) : cells_(Before{order}) {}
  // Takes those of `cells`, which grows at its end only, that it has not taken before.
  void TakeFrom(const std::vector<LoggedCell>& cells);
  [[nodiscard]] bool empty() const { return cells_.empty(); }
  // Over what has been taken; good until the next TakeFrom.
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
