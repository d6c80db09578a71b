// ClientMetaService: lets clients find the cluster without ZooKeeper (docs/wire-compatibility.md).
#include "common/rpc/methods/client_meta_service.h"
#include "common/model/codec.h"
#include "common/model/proto/registry.pb.h"
#include "common/rpc/exceptions.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
constexpr std::size_t kMaxBootstrapNodes = 10;

void AddWhoIsWho(rpc::Service& service, ServiceEnv& env) {
  AnswerAlways(
      service, methods::kGetClusterId,
      [&env](const rpc::CallContext& /*call*/, const pb::GetClusterIdRequest& /*request*/) {
        pb::GetClusterIdResponse response;
        response.set_cluster_id(env.gate.cluster_id());
        return response;
      },
      kMetaQuestions);
  // Returns the active master's name from ZooKeeper, as this process last read it: a hint, also from a standby.
  AnswerAlways(
      service, methods::kGetActiveMaster,
      [&env](const rpc::CallContext& /*call*/, const pb::GetActiveMasterRequest& /*request*/) {
        pb::GetActiveMasterResponse response;
        if (const auto active = env.gate.active_master()) ToProto(*active, *response.mutable_server_name());
        return response;
      },
      kMetaQuestions);
  AnswerAlways(
      service, methods::kGetMasters,
      [&env](const rpc::CallContext& /*call*/, const pb::GetMastersRequest& /*request*/) {
        pb::GetMastersResponse response;
        const auto add = [&response](const ServerName& server, bool is_active) {
          auto& entry = *response.add_master_servers();
          ToProto(server, *entry.mutable_server_name());
          entry.set_is_active(is_active);
        };
        if (const auto active = env.gate.active_master()) add(*active, true);
        for (const ServerName& backup : env.backup_masters()) add(backup, false);
        return response;
      },
      kMetaQuestions);
}

Result<pb::GetMetaRegionLocationsResponse> MetaLocations(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                         const pb::GetMetaRegionLocationsRequest& /*request*/) {
  const auto server = parts.logic->regions.MetaLocation();
  if (!server.has_value()) return rpc::RemoteError(rpc::exception::kPleaseHold, "hbase:meta is not online yet");
  const auto node = parts.logic->regions.Get(kMetaEncodedName);
  pb::GetMetaRegionLocationsResponse response;
  auto& location = *response.add_meta_locations();
  ToProto(MetaRegionInfo(), *location.mutable_region_info());
  ToProto(*server, *location.mutable_server_name());
  location.set_seq_num(node.has_value() ? static_cast<std::int64_t>(node->open_sequence) : -1);
  return response;
}

Result<pb::GetBootstrapNodesResponse> BootstrapNodes(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                     const pb::GetBootstrapNodesRequest& /*request*/) {
  std::vector<ServerName> online = parts.logic->servers.Online();
  if (online.size() > kMaxBootstrapNodes) online.resize(kMaxBootstrapNodes);
  pb::GetBootstrapNodesResponse response;
  for (const ServerName& server : online) ToProto(server, *response.add_server_name());
  return response;
}

}  // namespace

std::shared_ptr<rpc::Service> MakeClientMetaService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kClientMetaService);
  AddWhoIsWho(*service, env);
  Answer(*service, env.gate, Need::kRecovered, methods::kGetMetaRegionLocations, MetaLocations, kMetaQuestions);
  Answer(*service, env.gate, Need::kRecovered, methods::kGetBootstrapNodes, BootstrapNodes, kMetaQuestions);
  return service;
}

}  // namespace ratchet::master
