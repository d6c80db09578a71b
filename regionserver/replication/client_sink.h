// PeerSink that uses this project's client: cells are written with their timestamps, as any client may do.
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/outside.h"

namespace ratchet::regionserver {

// Connects at the first call. `timeout` is that of one call.
[[nodiscard]] std::unique_ptr<PeerSink> MakeClientSink(ClusterKey key, Millis timeout);

}  // namespace ratchet::regionserver
