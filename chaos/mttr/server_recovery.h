// One measurement of a region server's recovery.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "chaos/report/run_record.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct ServerRecoverySpec {
  std::filesystem::path dir;  // directory of the cluster; must not exist
  int servers = 3;
  int regions = 1;            // on each server
  std::uint64_t log_mib = 1;  // unflushed MiB on the server that dies
  Millis session{2000};
  std::string storage = "local";  // storage of the root, see ClusterSpec
};

struct ServerRecovery {
  Phases phases;                // since the kill; `first_success`: a row of the last region was read
  std::size_t regions = 0;      // regions of the dead server
  std::uint64_t log_bytes = 0;  // bytes of its logs
  int log_files = 0;
};

// Boots a cluster, loads data, kills a server without meta, waits until the crash procedure has ended, reads a row of
// each lost region.
[[nodiscard]] Result<ServerRecovery> MeasureServerRecovery(const ServerRecoverySpec& spec);

}  // namespace ratchet::chaos
