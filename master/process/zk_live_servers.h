// LiveServers from ZooKeeper's /rs, read at each call (rule S34 (which servers may be dead): after the directories).
#pragma once

#include "common/base/clock.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/env/live_servers.h"

namespace ratchet::master {

// Thread-safe. Do not call it from the session's own thread while disconnected, because it would wait for itself.
class ZkLiveServers final : public LiveServers {
 public:
  ZkLiveServers(zk::ZkSession& session, zk::ZkPaths paths, const Clock& clock, Millis patience)
      : session_(session), paths_(std::move(paths)), clock_(clock), patience_(patience) {}
  // Retries while ZooKeeper does not answer, up to `patience`.
  Result<std::vector<ServerName>> Read() override;

 private:
  zk::ZkSession& session_;
  const zk::ZkPaths paths_;
  const Clock& clock_;
  const Millis patience_;
};

}  // namespace ratchet::master
