// Tracks which region servers are alive: ephemeral nodes <parent>/rs/<host,port,startcode>.
//
// The list is only a reason to suspect a server, never a permission to act: a server that is missing here is fenced on
// storage before its regions are given to another, S3 (durable fence mark).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

// Registers a region server: creates its ephemeral node (and missing parents). Blocking, retried while disconnected
// until `deadline`. `info_port`: of its page; 0: none. kAlreadyExists: another session holds a node of this name.
[[nodiscard]] Status RegisterRegionServer(ZkSession& session, const ZkPaths& paths, const ServerName& server,
                                          std::string_view version, Millis deadline, std::uint32_t info_port = 0);

// Reads the list once (after the directories, S34 (which servers may be dead)): every server that had registered when
// it was called and still is, even if our member of the ensemble lags behind.
[[nodiscard]] Result<std::vector<ServerName>> ReadLiveServers(ZkSession& session, const ZkPaths& paths);

// Follows the list. `on_change` gets the whole list after each change, the first one included, on the session's thread;
// never while disconnected. Thread-safe.
class LiveServerWatch {
 public:
  using OnChange = std::function<void(const std::set<ServerName>& live)>;
  // `session` must outlive the watch.
  LiveServerWatch(ZkSession& session, ZkPaths paths, OnChange on_change);
  ~LiveServerWatch();
  LiveServerWatch(const LiveServerWatch&) = delete;
  LiveServerWatch& operator=(const LiveServerWatch&) = delete;

  void Start();
  // No call of `on_change` begins after it returns.
  void Stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ratchet::zk
