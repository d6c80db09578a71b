// Positions in the table hbase:replication of this cluster, which the master makes when there are peers.
//
// Row "<peer>-<server>" ("host,port,startcode" of the server whose logs they are), column queue:log, value
// "<file>:<offset>".
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/outside.h"

namespace ratchet::regionserver {

// Connects to this cluster when it is first used.
[[nodiscard]] std::unique_ptr<Positions> MakeClientPositions(ClusterKey own, Millis timeout);

}  // namespace ratchet::regionserver
