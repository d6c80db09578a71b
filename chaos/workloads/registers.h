// "registers": all operations on single columns, each of them recorded, and every history checked for linearizability.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// A register is checked as soon as it is retired, so memory does not grow with the length of the run. After the cluster
// has settled every register is read once more, and its history must allow the value.
[[nodiscard]] std::unique_ptr<Workload> MakeRegisters(WorkloadContext context);

}  // namespace ratchet::chaos
