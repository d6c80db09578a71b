// The load "balance": balances the cluster and switches the balancer off and on, while its moves make the cluster
// uneven. Every later master must see the last value of the switch. No region may move while the switch is off, or by a
// dry run. At the end each server must get its share of the regions.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeBalance(WorkloadContext context);

}  // namespace ratchet::chaos
