// Stores positions in this cluster's table hbase:replication, which the master creates when there are peers.
//
// Row "<peer>-<server>" (the logs' owner as "host,port,startcode"), column queue:log, value "<file>:<offset>".
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/outside.h"

namespace ratchet::regionserver {

// Connects to this cluster at the first call.
[[nodiscard]] std::unique_ptr<Positions> MakeClientPositions(ClusterKey own, Millis timeout);

}  // namespace ratchet::regionserver
