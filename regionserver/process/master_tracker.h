// Follows the active master through ZooKeeper's node <parent>/master.
//
// ZooKeeper only names the master; the master's answers show whether it still owns the cluster. While disconnected, the
// last known master is kept. Thread-safe; `on_change` runs on the session's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/base/clock.h"
#include "common/model/server_name.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::regionserver {

class MasterTracker {
 public:
  using OnChange = std::function<void(const std::optional<ServerName>& master)>;
  // `session` and `timers` must outlive the tracker. `on_change` is called for every change, including the first known
  // master.
  MasterTracker(zk::ZkSession& session, zk::ZkPaths paths, Timers& timers, OnChange on_change);
  ~MasterTracker();
  MasterTracker(const MasterTracker&) = delete;
  MasterTracker& operator=(const MasterTracker&) = delete;

  void Start();
  // No call of `on_change` begins after the session is closed; Stop drops what is still queued.
  void Stop();
  [[nodiscard]] std::optional<ServerName> master() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ratchet::regionserver
