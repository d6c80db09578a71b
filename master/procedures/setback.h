// What the data of a procedure tells about its last setback. A pure function of a view of the procedure; any thread may
// call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "procedure/record/inspect.h"

namespace ratchet::master {

// Why a procedure was last set back, also when its attempts have begun to count anew since: the refusals of a region's
// opening are a loop over several steps. Nothing when it gets on.
struct Setback {
  std::string error;
  std::uint32_t times = 0;
};
[[nodiscard]] std::optional<Setback> SetbackOf(const procedure::ProcedureInfo& info);

// Of all the unfinished procedures of a tree, the one that was set back most often, with its pid: what keeps the tree.
struct TreeSetback {
  ProcId pid;
  Setback setback;
};
[[nodiscard]] std::optional<TreeSetback> WorstSetbackOf(const std::vector<procedure::ProcedureInfo>& tree);

}  // namespace ratchet::master
