#include "chaos/report/phase_table.h"

#include <algorithm>

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

std::size_t CountOf(const PhaseTable::Counts& counts, std::string_view kind) {
  const auto found = counts.find(std::string(kind));
  return found == counts.end() ? 0 : found->second;
}

std::string Cell(std::size_t count, bool possible) {
  return count == 0 && !possible ? fmt::format(" {:>18}", "-") : fmt::format(" {:>18}", count);
}

}  // namespace

bool CanBePlaced(std::string_view second, const Phase& phase) {
  const bool meta_is_nowhere = phase.step == "SPLIT_META_LOG" || phase.step == "ASSIGN_META";
  return phase.provoked && !(second == "kill-meta-holder" && meta_is_nowhere);
}

PhaseTable CountPhases(const std::vector<FaultLine>& faults) {
  PhaseTable table;
  for (const FaultLine& fault : faults) {
    if (!fault.error.empty()) continue;
    for (const PhaseHit& hit : fault.met) ++table.rows[hit.phase][hit.kind];
  }
  for (const Phase& phase : AllPhases()) {
    const auto row = table.rows.find(PhaseName(phase));
    for (const auto second : kSecondFaults) {
      if (!CanBePlaced(second, phase)) continue;
      ++table.cells;
      if (row != table.rows.end() && CountOf(row->second, second) > 0) ++table.covered;
    }
  }
  return table;
}

std::string PhaseTableText(const PhaseTable& table) {
  if (table.rows.empty()) return {};
  std::string text = fmt::format("{:<44}", "fault x phase");
  for (const auto second : kSecondFaults) text += fmt::format(" {:>18}", second);
  text += fmt::format(" {:>18}\n", "others");
  for (const Phase& phase : AllPhases()) {
    const auto row = table.rows.find(PhaseName(phase));
    if (row == table.rows.end()) continue;
    text += fmt::format("{:<44}", row->first);
    std::size_t others = 0;
    for (const auto& [kind, count] : row->second) {
      if (std::find(kSecondFaults.begin(), kSecondFaults.end(), kind) == kSecondFaults.end()) others += count;
    }
    for (const auto second : kSecondFaults) text += Cell(CountOf(row->second, second), CanBePlaced(second, phase));
    text += Cell(others, true) + "\n";
  }
  return text + fmt::format("covered: {} of {} pairs of fault and phase, {:.0f} %\n", table.covered, table.cells,
                            table.Share() * 100);
}

}  // namespace ratchet::chaos
