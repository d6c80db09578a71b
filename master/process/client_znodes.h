// --publish-client-znodes: meta-region-server, for clients that can find meta only there. The cluster itself never
// reads it. As in HBase, it is persistent and changed in place, so that a client's watch stays valid. (hbaseid, which
// such clients also read, always exists: common/zk/cluster_place.h.)
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::master {

// Runs on the session's thread.
class ClientZnodes {
 public:
  ClientZnodes(zk::ZkSession& session, zk::ZkPaths paths) : session_(session), paths_(std::move(paths)) {}
  // Writes the node if its content differs, also if another client wrote it.
  void Publish(const std::optional<ServerName>& meta);
  // Removes the node, because this master does not maintain it, and clients would use a server that no longer has
  // hbase:meta. Without the node they fail at once.
  void Withdraw();

 private:
  [[nodiscard]] Status Write(const std::string& data);

  zk::ZkSession& session_;
  const zk::ZkPaths paths_;
  std::string error_;  // error of the last write, logged once
};

}  // namespace ratchet::master
