// The durations of the syncs of this process's procedure store. One object for the process, because it has one store at
// a time; never freed. Thread-safe.
#pragma once

#include "common/base/latency.h"

namespace ratchet::procedure {

[[nodiscard]] inline Latency& StoreSyncTimes() {
  static auto* const times = new Latency;
  return *times;
}

}  // namespace ratchet::procedure
