// Every move of a region's state that the masters logged is a legal one (IsLegalMove). Pure.
//
// A master logs a row of hbase:meta before it writes it. So a master that died may have logged a row that was never
// written, and its successor begins at the row before. In a long list of rows only the first ones are logged. A region
// whose server has died is ABNORMALLY_CLOSED only in the master's memory, not in a row.
//
// The order is that of the epochs, and in an epoch that of the master's log. The times in the logs give no order,
// because faults set clocks back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/workloads/workload.h"
#include "common/model/region_state.h"

namespace ratchet::chaos {

struct LoggedMove {
  std::uint64_t epoch = 0;  // in which the master wrote it
  std::string master;       // the process, "master-1"
  std::string region;       // its name; empty: rows that are not logged one by one
  std::optional<RegionState> state;
  bool operator==(const LoggedMove&) const = default;
};

// From a master's log: "... updating hbase:meta row=<region name>, regionState=<STATE>...", or "... updating
// hbase:meta, <n> rows in all". nullopt: another line, one of a table's row among them.
[[nodiscard]] std::optional<LoggedMove> ParseMove(const std::string& master, const std::string& line);

// From a master's log: "... Activation: claimed epoch <n>", or the form of releases up to 0.2. The moves after this
// line are of this epoch.
[[nodiscard]] std::optional<std::uint64_t> ParseEpoch(const std::string& line);

// Reads a master's log, line by line.
class MoveLog {
 public:
  explicit MoveLog(std::string master) : master_(std::move(master)) {}
  [[nodiscard]] std::optional<LoggedMove> Read(const std::string& line);

 private:
  const std::string master_;
  std::uint64_t epoch_ = 0;
};

// Judges all moves of a run; the moves of one epoch are in the order of its master's log. A run without moves fails.
[[nodiscard]] Finding JudgeMoves(std::vector<LoggedMove> moves);

}  // namespace ratchet::chaos
