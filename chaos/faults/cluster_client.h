// The cluster as a fault sees it through a client: procedures, regions, servers. The driver's thread; blocking calls.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/faults/target.h"
#include "common/base/prng.h"
#include "common/client/admin.h"
#include "common/client/connection.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/server_name.h"

namespace ratchet::chaos {

class ClusterClient {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ClusterClient>> Open(Target& target);

  client::Admin admin() { return client::Admin(*connection_); }
  // Procedures of this type that have not ended.
  [[nodiscard]] Result<std::vector<pb::ProcedureInfo>> Unfinished(std::string_view type);
  // kUnavailable when it has ended.
  [[nodiscard]] Status CheckUnfinished(const pb::ProcedureInfo& wanted);
  // Regions of user tables that are on a server now.
  [[nodiscard]] Result<std::vector<client::RegionLocation>> Regions();
  [[nodiscard]] Result<std::vector<ServerName>> OnlineServers();
  // Moves a random region to a random other server, or to `to`; kUnavailable when there is none.
  [[nodiscard]] Status MoveSomething(Prng& prng, const ServerName* to = nullptr);

 private:
  explicit ClusterClient(std::unique_ptr<client::Connection> connection) : connection_(std::move(connection)) {}
  std::unique_ptr<client::Connection> connection_;
};

// "rs-2" for its advertised port; empty when there is none, or when the target has no processes of its own.
[[nodiscard]] std::string NameAtPort(Target& target, std::uint16_t port);

}  // namespace ratchet::chaos
