// Every move of a region's state that the masters logged is a legal one (IsLegalMove). Pure.
//
// A master logs a row of hbase:meta before it writes it. So a master that died may have logged a row that was never
// written, and its successor begins at the row before. In a long list of rows only the first ones are logged. A region
// whose server has died is ABNORMALLY_CLOSED only in the master's memory, not in a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/workloads/workload.h"
#include "common/model/region_state.h"

namespace ratchet::chaos {

struct LoggedMove {
  std::int64_t at_ms = 0;
  std::string master;  // the process, "master-1"
  std::string region;  // its name; empty: rows that are not logged one by one
  std::optional<RegionState> state;
  bool operator==(const LoggedMove&) const = default;
};

// From a master's log: "... updating hbase:meta row=<region name>, regionState=<STATE>...", or "... updating
// hbase:meta, <n> rows in all". nullopt: another line, one of a table's row among them.
[[nodiscard]] std::optional<LoggedMove> ParseMove(const std::string& master, const std::string& line);

// Judges all moves of a run; the moves of one master are in the order of its log. A run without moves fails.
[[nodiscard]] Finding JudgeMoves(std::vector<LoggedMove> moves);

}  // namespace ratchet::chaos
