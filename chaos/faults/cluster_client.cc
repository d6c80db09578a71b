#include "chaos/faults/cluster_client.h"

#include "common/client/drain.h"
#include "common/client/namespaces.h"
#include "common/client/peers.h"
#include "common/model/proto/operator.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {

Result<std::unique_ptr<ClusterClient>> ClusterClient::Open(Target& target) {
  client::ConnectionOptions options;
  options.zookeeper = target.zookeeper();
  options.user = "chaos";
  options.operation_timeout = Millis(3'000);  // a broken cluster may be unable to answer
  options.rpc_timeout = Millis(2'000);
  RATCHET_ASSIGN(auto connection, client::Connection::Open(options));
  return std::unique_ptr<ClusterClient>(new ClusterClient(target, std::move(connection)));
}

Result<std::vector<pb::ProcedureInfo>> ClusterClient::Unfinished(std::string_view type) {
  RATCHET_ASSIGN(const auto answer, admin().Call(methods::kListProcedures, pb::ListProceduresRequest()));
  std::vector<pb::ProcedureInfo> found;
  for (const auto& procedure : answer.procedure()) {
    if ((type.empty() || procedure.type() == type) && !procedure.finished()) found.push_back(procedure);
  }
  return found;
}

Result<pb::ProcedureInfo> ClusterClient::UnfinishedOne(std::uint64_t pid) {
  pb::GetProcedureRequest request;
  request.set_pid(pid);
  RATCHET_ASSIGN(auto answer, (admin().Call(methods::kGetProcedure, request)));
  if (answer.has_procedure() && !answer.procedure().finished()) return std::move(*answer.mutable_procedure());
  return Error(Code::kUnavailable, fmt::format("pid={} has ended already", pid));
}

Status ClusterClient::CheckUnfinished(const pb::ProcedureInfo& wanted) {
  RATCHET_ASSIGN(const auto found, Unfinished(wanted.type()));
  for (const auto& one : found) {
    if (one.pid() == wanted.pid()) return Ok();
  }
  return Error(Code::kUnavailable, fmt::format("pid={} {} had ended before the kill", wanted.pid(), wanted.type()));
}

Result<bool> ClusterClient::HasEnded(std::uint64_t pid) {
  pb::GetProcedureRequest request;
  request.set_pid(pid);
  RATCHET_ASSIGN(const auto answer, (admin().Call(methods::kGetProcedure, request)));
  return !answer.has_procedure() || answer.procedure().finished();
}

Result<std::optional<pb::ProcedureInfo>> ClusterClient::CrashOf(const std::string& server) {
  RATCHET_ASSIGN(auto crashes, Unfinished("ServerCrash"));
  const std::string own = "server=" + server + ",";
  for (auto& crash : crashes) {
    if (crash.text().find(own) != std::string::npos) return std::optional(std::move(crash));
  }
  return std::optional<pb::ProcedureInfo>();
}

Status ClusterClient::PauseType(const std::string& type) {
  pb::PauseRequest request;
  request.mutable_scope()->set_kind(pb::PauseScope::TYPE);
  request.mutable_scope()->set_type(type);
  request.mutable_note()->set_why("chaos");
  request.set_patience_ms(100);
  const auto answer = admin().Call(methods::kPause, request);
  return answer.ok() ? Ok() : Status(answer.error());
}

Status ClusterClient::ResumeType(const std::string& type) {
  pb::ResumeRequest request;
  request.mutable_scope()->set_kind(pb::PauseScope::TYPE);
  request.mutable_scope()->set_type(type);
  const auto answer = admin().Call(methods::kResume, request);
  if (answer.ok()) return Ok();
  const Code code = answer.error().code();
  const bool none = code == Code::kNotFound || code == Code::kInvalidArgument || code == Code::kFailedPrecondition;
  return none ? Ok() : Status(answer.error());
}

Result<std::vector<client::RegionLocation>> ClusterClient::Regions() {
  RATCHET_ASSIGN(const auto tables, admin().ListTables());
  std::vector<client::RegionLocation> regions;
  for (const auto& table : tables) {
    const auto of_table = admin().Regions(table);
    if (!of_table.ok() && of_table.error().code() == Code::kTimeout) return of_table.error();
    if (!of_table.ok()) continue;  // the table may be deleted meanwhile
    for (const auto& region : *of_table) {
      if (!region.server.empty()) regions.push_back(region);
    }
  }
  return regions;
}

Result<std::vector<ServerName>> ClusterClient::OnlineServers() {
  RATCHET_ASSIGN(const auto answer, admin().Call(methods::kListServers, pb::ListServersRequest()));
  std::vector<ServerName> online;
  for (const auto& row : answer.server()) {
    if (row.state() != "ONLINE") continue;
    online.push_back(
        {row.server().host_name(), static_cast<std::uint16_t>(row.server().port()), row.server().start_code()});
  }
  return online;
}

Status ClusterClient::StartMove(const std::string& encoded_region, const ServerName& destination) {
  const auto pid = admin().Transit(client::RegionVerb::kMove, encoded_region, destination);
  return pid.ok() ? Ok() : Status(pid.error());
}

Status ClusterClient::MoveSomething(Prng& prng, const ServerName* to) {
  RATCHET_ASSIGN(auto regions, Regions());
  if (to != nullptr) std::erase_if(regions, [&](const auto& region) { return region.server.port == to->port; });
  if (regions.empty()) return Error(Code::kUnavailable, "no table has a region to move");
  const auto& region = regions[prng.Below(regions.size())];
  if (to != nullptr) return StartMove(region.region.encoded_name(), *to);
  RATCHET_ASSIGN(auto servers, OnlineServers());
  std::erase_if(servers, [&](const auto& server) { return server.port == region.server.port; });
  if (servers.empty()) return Error(Code::kUnavailable, "no other server is online");
  return StartMove(region.region.encoded_name(), servers[prng.Below(servers.size())]);
}

Status ClusterClient::RecommissionAll() {
  client::Admin asking = admin();
  RATCHET_ASSIGN(const auto drained, client::Drained(asking));
  for (const ServerName& server : drained) RATCHET_TRY(asking.WaitOk(client::Undrain(asking, server, {})));
  return Ok();
}

Result<std::uint64_t> ClusterClient::StartDrain(const ServerName& server) {
  client::Admin asking = admin();
  return client::Drain(asking, server, false);
}

Status ClusterClient::DrainAndRecommission(Prng& prng) {
  RATCHET_TRY(RecommissionAll());
  RATCHET_ASSIGN(const auto servers, OnlineServers());
  if (servers.empty()) return Error(Code::kUnavailable, "no server is online");
  const ServerName& server = servers[prng.Below(servers.size())];
  client::Admin asking = admin();
  RATCHET_TRY(asking.WaitOk(client::Drain(asking, server, false)));
  return RecommissionAll();
}

Status ClusterClient::ChangeSettings() {
  client::Admin asking = admin();
  NamespaceDescriptor descriptor{"chaos_settings", {}};
  const Status made = asking.WaitOk(client::CreateNamespace(asking, descriptor));
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made;  // an earlier call left it
  descriptor.properties["owner"] = "chaos";
  RATCHET_TRY(asking.WaitOk(client::ModifyNamespace(asking, descriptor)));
  hbase::pb::GrantRequest grant;
  grant.mutable_user_permission()->set_user("chaos_settings");
  auto& permission = *grant.mutable_user_permission()->mutable_permission();
  permission.set_type(hbase::pb::Permission::Global);
  permission.mutable_global_permission()->add_action(hbase::pb::Permission::READ);
  const auto granted = asking.Call(methods::kGrant, grant);
  if (!granted.ok()) return granted.error();
  hbase::pb::RevokeRequest revoke;
  *revoke.mutable_user_permission() = grant.user_permission();
  const auto revoked = asking.Call(methods::kRevoke, revoke);
  if (!revoked.ok()) return revoked.error();
  RATCHET_TRY(asking.WaitOk(client::DeleteNamespace(asking, descriptor.name)));
  // Makes a peer without shipping, because its endpoint exists only in HBase.
  hbase::pb::ReplicationPeer peer;
  peer.set_replicationendpointimpl("org.apache.hadoop.hbase.replication.DummyReplicationEndpoint");
  peer.set_replicate_all(true);
  const std::string id = "chaos_settings";
  const Status added = asking.WaitOk(client::AddPeer(asking, id, peer, true));
  if (!added.ok() && added.error().code() != Code::kInvalidArgument) return added;  // an earlier call left it
  peer.set_bandwidth(1);
  RATCHET_TRY(asking.WaitOk(client::UpdatePeer(asking, id, peer)));
  const Status disabled = asking.WaitOk(client::DisablePeer(asking, id));
  if (!disabled.ok() && disabled.error().code() != Code::kInvalidArgument) return disabled;
  RATCHET_TRY(asking.WaitOk(client::EnablePeer(asking, id)));
  RATCHET_TRY(asking.WaitOk(client::RemovePeer(asking, id)));
  hbase::pb::SetCleanerChoreRunningRequest request;
  request.set_on(true);
  RATCHET_ASSIGN(const auto set, (asking.Call(methods::kSetCleanerChoreRunning, request)));
  return set.prev_value() ? Ok() : Status(Error(Code::kInternal, "the cleaner was switched off"));
}

}  // namespace ratchet::chaos
