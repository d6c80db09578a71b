// --publish-client-znodes: meta-region-server, for clients that can find meta only there. The cluster itself never
// reads it. Like HBase's it is persistent and changed in place, so that a client's watch on it lives on. (hbaseid,
// which such clients read too, is always there: common/zk/cluster_place.h.)
#pragma once

#include <optional>

#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::master {

// Runs on the session's thread.
class ClientZnodes {
 public:
  ClientZnodes(zk::ZkSession& session, zk::ZkPaths paths) : session_(session), paths_(std::move(paths)) {}
  // Writes the node where it says something else, also when another client wrote that.
  void Publish(const std::optional<ServerName>& meta);

 private:
  [[nodiscard]] Status Write(const std::string& data);

  zk::ZkSession& session_;
  const zk::ZkPaths paths_;
};

}  // namespace ratchet::master
