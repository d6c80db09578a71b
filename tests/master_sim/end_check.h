// Checks after all work has ended.
#pragma once

#include "tests/master_sim/admin_client.h"
#include "tests/master_sim/operators.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::simulation {

// Adds violations to the cluster's list.
void CheckEnd(sim::SimCluster& cluster, const AdminClient& client, const Operators& operators);

}  // namespace ratchet::simulation
