// "registers": all operations on single columns, every one recorded, every history checked for linearizability.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// A register is checked as soon as it is retired, so memory does not grow with the length of the run; when the dust has
// settled every register is read once more, and what it holds must be what its history allows.
[[nodiscard]] std::unique_ptr<Workload> MakeRegisters(WorkloadContext context);

}  // namespace ratchet::chaos
