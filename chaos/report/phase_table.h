// Counts which faults met which phases of a recovery. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/report/phases.h"
#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// The second faults that are placed in every phase.
inline constexpr std::array<std::string_view, 4> kSecondFaults{"kill-active-master", "kill-meta-holder", "kill-server",
                                                               "pause-server"};
// False for a phase that is not provoked, and for a fault that has no victim in that phase: no server holds hbase:meta
// before it is assigned.
[[nodiscard]] bool CanBePlaced(std::string_view second, const Phase& phase);

struct PhaseTable {
  using Counts = std::map<std::string, std::size_t>;  // by kind of fault
  std::map<std::string, Counts> rows;                 // by phase; phases that nothing met are left out
  std::size_t cells = 0;                              // pairs that can be placed
  std::size_t covered = 0;                            // of these, met at least once
  [[nodiscard]] double Share() const {
    return cells == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(cells);
  }
};

// Faults without effect do not count.
[[nodiscard]] PhaseTable CountPhases(const std::vector<FaultLine>& faults);

// A line a phase, a column for each second fault and one for all other kinds, and the share of pairs that is covered.
// Returns an empty text if no fault met a phase.
[[nodiscard]] std::string PhaseTableText(const PhaseTable& table);

}  // namespace ratchet::chaos
