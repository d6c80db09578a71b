// A fault's view of the cluster through a client: procedures, regions, servers. Runs on the driver's thread; calls
// block.
#pragma once

#include <memory>
#include <optional>
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

  // Each call may take seconds while no server answers, so pending work of other faults is done first.
  client::Admin admin() {
    target_.Meanwhile();
    return client::Admin(*connection_);
  }
  client::Snapshots snapshots() {
    target_.Meanwhile();
    return client::Snapshots(*connection_);
  }
  // Returns unfinished procedures of this type, or of any type.
  [[nodiscard]] Result<std::vector<pb::ProcedureInfo>> Unfinished(std::string_view type = {});
  // Returns kUnavailable when the procedure has ended.
  [[nodiscard]] Result<pb::ProcedureInfo> UnfinishedOne(std::uint64_t pid);
  [[nodiscard]] Status CheckUnfinished(const pb::ProcedureInfo& wanted);
  // Also true when the master does not know the procedure. Returns an error while no master answers.
  [[nodiscard]] Result<bool> HasEnded(std::uint64_t pid);
  // Returns the unfinished ServerCrash of the server with this name "host,port,startcode"; nullopt if there is none.
  // The text of another server's crash may also contain the name: its reason names the servers that confirmed the end.
  [[nodiscard]] Result<std::optional<pb::ProcedureInfo>> CrashOf(const std::string& server);
  // The operator's verbs. Execute no step of this type of procedure until ResumeType; the pause survives the master.
  [[nodiscard]] Status PauseType(const std::string& type);
  // Ok also if the type is not paused.
  [[nodiscard]] Status ResumeType(const std::string& type);
  // Returns regions of user tables that are on a server now.
  [[nodiscard]] Result<std::vector<client::RegionLocation>> Regions();
  [[nodiscard]] Result<std::vector<ServerName>> OnlineServers();
  // Submits a move without waiting for its end.
  [[nodiscard]] Status StartMove(const std::string& encoded_region, const ServerName& destination);
  // Submits a move of a random region to a random other server, or to `to`; kUnavailable when there is none.
  [[nodiscard]] Status MoveSomething(Prng& prng, const ServerName* to = nullptr);
  // Moves all regions off a random server, and takes the server back, together with servers that an earlier call left
  // drained. Waits for the end of each.
  [[nodiscard]] Status DrainAndRecommission(Prng& prng);
  [[nodiscard]] Status RecommissionAll();
  // Submits a drain and does not wait for its end; the pid.
  [[nodiscard]] Result<std::uint64_t> StartDrain(const ServerName& server);
  // Creates, changes and deletes a namespace, and sets a switch to its current value. Waits for the end of each
  // procedure.
  [[nodiscard]] Status ChangeSettings();

 private:
  ClusterClient(Target& target, std::unique_ptr<client::Connection> connection)
      : target_(target), connection_(std::move(connection)) {}
  Target& target_;
  std::unique_ptr<client::Connection> connection_;
};

}  // namespace ratchet::chaos
