// One measurement of a master's failover.
#pragma once

#include <cstdint>
#include <filesystem>

#include "chaos/report/run_record.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct MasterFailoverSpec {
  std::filesystem::path dir;     // of the cluster; must not exist
  std::uint64_t procedures = 0;  // unfinished when the master dies
  Millis session{2000};
};

struct MasterFailover {
  Phases phases;  // since the kill; `first_success`: the first step that the new master committed, where there is one
  std::uint64_t procedures = 0;  // that the new master found unfinished or finished in its store
};

// Boots; where procedures are wanted, lets one of them hang in a step and many wait for its lock; kills the master.
[[nodiscard]] Result<MasterFailover> MeasureMasterFailover(const MasterFailoverSpec& spec);

}  // namespace ratchet::chaos
