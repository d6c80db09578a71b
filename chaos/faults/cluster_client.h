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
#include "common/client/snapshots.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/server_name.h"

namespace ratchet::chaos {

class ClusterClient {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ClusterClient>> Open(Target& target);

  // Each question may take seconds while no server is there to answer: what is due elsewhere is done before it.
  client::Admin admin() {
    target_.Meanwhile();
    return client::Admin(*connection_);
  }
  client::Snapshots snapshots() {
    target_.Meanwhile();
    return client::Snapshots(*connection_);
  }
  // Procedures of this type, or of any, that have not ended.
  [[nodiscard]] Result<std::vector<pb::ProcedureInfo>> Unfinished(std::string_view type = {});
  // kUnavailable when it has ended.
  [[nodiscard]] Result<pb::ProcedureInfo> UnfinishedOne(std::uint64_t pid);
  [[nodiscard]] Status CheckUnfinished(const pb::ProcedureInfo& wanted);
  // Regions of user tables that are on a server now.
  [[nodiscard]] Result<std::vector<client::RegionLocation>> Regions();
  [[nodiscard]] Result<std::vector<ServerName>> OnlineServers();
  // Submits a move and does not wait for its end.
  [[nodiscard]] Status StartMove(const std::string& encoded_region, const ServerName& destination);
  // Submits a split and does not wait for its end.
  [[nodiscard]] Status StartSplit(const RegionInfo& region, const std::string& key);
  // Starts to move a random region to a random other server, or to `to`; kUnavailable when there is none.
  [[nodiscard]] Status MoveSomething(Prng& prng, const ServerName* to = nullptr);
  // Moves all regions off a random server, and takes it back, as it does with servers that an earlier call has left
  // drained. Waits for the end of each.
  [[nodiscard]] Status DrainAndTakeBack(Prng& prng);
  [[nodiscard]] Status TakeAllBack();
  // Creates a namespace, changes it and deletes it, and sets a switch to what it is. Waits for the end of each.
  [[nodiscard]] Status ChangeSettings();

 private:
  ClusterClient(Target& target, std::unique_ptr<client::Connection> connection)
      : target_(target), connection_(std::move(connection)) {}
  Target& target_;
  std::unique_ptr<client::Connection> connection_;
};

}  // namespace ratchet::chaos
