// Cells that are not readable yet: later reads by mutations treat them as stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regionserver/store/cell_cursor.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// Sequences of pending cells only; every read point shows them. Cells that are in the log's queue have the first one
// plus their own sequence, which is below kLargestPlausible. The cells of a unit that is being planned are newer.
inline constexpr std::uint64_t kFirstPendingSequence = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kFirstPlannedSequence = UINT64_MAX - UINT32_MAX;

// In key order; of two cells of one version, the later one is newer. Each cell is inserted once, so a unit of many
// increments costs one look-up for each cell. Owner: the planner of one unit, or a row with writes in the log's queue.
class PendingCells {
  struct Before {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return order(a, b); }
    KeyOrder order;
  };
  using Cells = std::map<std::string, std::string, Before>;  // encoded keys and values
  class Cursor;

 public:
  using Place = Cells::const_iterator;

  explicit PendingCells(KeyOrder order) : cells_(Before{order}) {}
  // Adds the cells of `cells`, those of one planned unit, that were not added before; `cells` grows only at its end.
  void AddNew(const std::vector<LoggedCell>& cells);
  // Adds a cell of an entry with this sequence. Returns its place, or nullopt if it replaced a cell of the same key.
  std::optional<Place> Add(const LoggedCell& logged, std::uint64_t sequence);
  void Remove(Place place) { cells_.erase(place); }
  [[nodiscard]] bool empty() const { return cells_.empty(); }
  // Returns a cursor over the added cells; valid until the next change.
  [[nodiscard]] std::unique_ptr<CellCursor> NewCursor() const;

 private:
  Cells cells_;
  std::size_t taken_ = 0;
};

}  // namespace ratchet::regionserver
