// --publish-client-znodes: meta-region-server and hbaseid for clients that know no other way. The cluster itself never
// reads them. They are ephemeral, so that they vanish with the master that wrote them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::master {

// Runs on the session's thread.
class ClientZnodes {
 public:
  ClientZnodes(zk::ZkSession& session, zk::ZkPaths paths, std::string cluster_id)
      : session_(session), paths_(std::move(paths)), cluster_id_(std::move(cluster_id)) {}
  // Writes what has changed since the last call.
  void Publish(const std::optional<ServerName>& meta);

 private:
  [[nodiscard]] Status Replace(const std::string& path, const std::string& data);

  zk::ZkSession& session_;
  const zk::ZkPaths paths_;
  const std::string cluster_id_;
  bool id_published_ = false;
  std::optional<ServerName> published_;
};

}  // namespace ratchet::master
