// The catalog janitor: finds regions that were split or merged and are needed no more, and has them removed (GCRegion,
// GCMultipleMergedRegions). It waits until what took their place has been open once: an operator finds the files of
// both until then; no region depends on it. Pure; the reconciler submits what it names.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "procedure/author/procedure.h"

namespace ratchet::master {

struct MasterEnv;

// Looks at the next `most` regions behind `*turn`, which moves on: what each needs, under a key that stays the same
// while it is needed. Only once hbase:meta is loaded.
[[nodiscard]] std::vector<std::pair<std::string, procedure::ProcedurePtr>> FindGarbage(const MasterEnv& env,
                                                                                       std::string* turn,
                                                                                       std::size_t most);

}  // namespace ratchet::master
