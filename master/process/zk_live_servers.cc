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
    if (live.error().code() == Code::kNotFound) return std::vector<ServerName>{};  // no region server was ever here
    const auto left = std::chrono::duration_cast<Millis>(deadline - clock_.Now());
    if (live.error().code() != Code::kUnavailable || left.count() <= 0) return live;
    RATCHET_LOG(kWarn, "ZooKeeper does not tell which servers are alive: {}; trying again", live.error().message());
    IgnoreResult(session_.WaitConnected(std::min(left, Millis{1000})), "the read above decides");
  }
}

}  // namespace ratchet::master
