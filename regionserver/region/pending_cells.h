// Cells that a mutation is going to write, as a cursor: for reads that count them as stored already.
#pragma once

#include <memory>
#include <vector>

#include "regionserver/log/log_entry.h"
#include "regionserver/store/cell_cursor.h"

namespace ratchet::regionserver {

// Sequences from here on are no stored cell's: those of pending cells, which every read point shows.
inline constexpr std::uint64_t kFirstPendingSequence = UINT64_MAX - UINT32_MAX;

// `pending` in key order; of cells of one version the later one is the newer.
[[nodiscard]] std::unique_ptr<CellCursor> PendingCells(const std::vector<LoggedCell>& pending, KeyOrder order);

}  // namespace ratchet::regionserver
