// The catalog janitor: finds regions that were split or merged and are no longer needed, and has them removed
// (GCRegion, GCMultipleMergedRegions). It waits until each successor has been open once, so that an operator finds the
// files of both until then; no region depends on this wait. Pure; the reconciler submits the procedures that it
// returns.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "procedure/api/procedure.h"

namespace ratchet::master {

struct MasterEnv;

// Looks at the next `most` regions after `*position`, and advances `*position`. Returns the cleanup procedure that each
// region needs, under a key that stays the same until the region is removed. Call only after hbase:meta is loaded.
[[nodiscard]] std::vector<std::pair<std::string, procedure::ProcedurePtr>> FindGarbage(const MasterEnv& env,
                                                                                       std::string* position,
                                                                                       std::size_t most);

}  // namespace ratchet::master
