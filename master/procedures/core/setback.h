// The last setback of a procedure, from its data. A pure function of a view of the procedure; any thread may call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "procedure/api/views.h"

namespace ratchet::master {

// Reason of a procedure's last setback. A step's attempts do not show it, because refused openings of a region, and
// rounds of a flush or compaction of a table, are loops over several steps. Absent while the procedure makes progress.
struct Setback {
  std::string error;
  std::uint32_t times = 0;
};
[[nodiscard]] std::optional<Setback> SetbackOf(const procedure::ProcedureInfo& info);

// The unfinished procedure of a tree with the most setbacks, with its pid: the cause of the tree's delay.
struct TreeSetback {
  ProcId pid;
  Setback setback;
};
[[nodiscard]] std::optional<TreeSetback> WorstSetbackOf(const std::vector<procedure::ProcedureInfo>& tree);

}  // namespace ratchet::master
