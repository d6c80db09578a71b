// PeerSink by this project's own client: the cells are written with their timestamps, as any client's.
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/outside.h"

namespace ratchet::regionserver {

// Connects when it is first used. `timeout`: of one call.
[[nodiscard]] std::unique_ptr<PeerSink> MakeClientSink(ClusterKey key, Millis timeout);

}  // namespace ratchet::regionserver
