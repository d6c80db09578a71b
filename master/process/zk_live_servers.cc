#include "master/process/zk_live_servers.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/zk/server_liveness.h"

namespace ratchet::master {

Result<std::vector<ServerName>> ZkLiveServers::Read() {
  const TimePoint deadline = clock_.Now() + patience_;
  while (true) {
    auto live = zk::ReadLiveServers(session_, paths_);
    if (live.ok()) return live;
    // no region server has ever registered
    if (live.error().code() == Code::kNotFound) return std::vector<ServerName>{};
    const auto left = std::chrono::duration_cast<Millis>(deadline - clock_.Now());
    if (live.error().code() != Code::kUnavailable || left.count() <= 0) return live;
    RATCHET_LOG(kWarn, "Cannot read the live servers from ZooKeeper: {}; retrying", live.error().message());
    IgnoreResult(session_.WaitConnected(std::min(left, Millis{1000})), "the read above decides");
  }
}

}  // namespace ratchet::master
