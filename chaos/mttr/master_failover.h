// One measurement of a master's failover.
#pragma once

#include <cstdint>
#include <filesystem>

#include "chaos/report/run_record.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct MasterFailoverSpec {
  std::filesystem::path dir;     // directory of the cluster; must not exist
  std::uint64_t procedures = 0;  // number of unfinished procedures when the master dies
  Millis session{2000};
};

struct MasterFailover {
  Phases phases;  // since the kill; `first_success`: the first step that the new master committed, if any
  std::uint64_t procedures = 0;  // procedures, unfinished or finished, that the new master found in its store
};

// Boots a cluster. If procedures are wanted, makes one hang in a step and the others wait for its lock. Then kills the
// master.
[[nodiscard]] Result<MasterFailover> MeasureMasterFailover(const MasterFailoverSpec& spec);

}  // namespace ratchet::chaos
