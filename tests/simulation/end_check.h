// What must be true when everything has come to rest.
#pragma once

#include "tests/simulation/admin_client.h"
#include "tests/simulation/operators.h"
#include "tests/support/sim/sim_cluster.h"

namespace ratchet::simulation {

// Adds to the cluster's violations.
void CheckEnd(sim::SimCluster& cluster, const AdminClient& client, const Operators& operators);

}  // namespace ratchet::simulation
