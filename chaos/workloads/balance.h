// The load "balance": has the cluster balanced, and the balancer switched off and on, while it makes it uneven by
// moves. A switch is as it was last set, for every later master; nothing is moved while it is off, or by a plan that is
// only asked for; at the end each server gets its share.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeBalance(WorkloadContext context);

}  // namespace ratchet::chaos
