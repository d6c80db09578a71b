// MasterService: the state of the cluster, balancing it, and stopping it.
#include <algorithm>

#include <fmt/format.h>

#include "common/identity/certificate_callers.h"
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/errors.h"
#include "master/rpc/cluster_status.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/targets.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// The first request of Java clients. On false, instead of an error, they look for the active master.
void AddIsMasterRunning(rpc::Service& service, ServiceEnv& env) {
  service.On(
      methods::kIsMasterRunning,
      [&env](const rpc::CallContext& /*call*/, const pb::IsMasterRunningRequest& /*request*/,
             std::string_view /*cells*/, const rpc::Responder<pb::IsMasterRunningResponse>& responder) {
        const MasterRole role = env.gate.role();
        if (role == MasterRole::kStandby) {
          const auto refused = env.gate.Admit(Need::kReady);
          if (!refused.ok()) {
            responder.Fail(refused.error());
            return;
          }
        }
        pb::IsMasterRunningResponse response;
        response.set_is_master_running(role == MasterRole::kActive || role == MasterRole::kActivating);
        responder.Reply(response);
      },
      kAdmin);
}

// Removes the parts that belong to tables in which the caller has no right.
void HideTables(const ServiceEnv& env, const rpc::CallContext& call, pb::ClusterStatus& status) {
  const auto hidden = [&](const std::string& region) {
    const auto table = TableName::Parse(region.substr(0, region.find(',')));
    return !table.ok() || !SeesTable(env, call, *table);
  };
  for (auto& live : *status.mutable_live_servers()) {
    auto& loads = *live.mutable_server_load()->mutable_region_loads();
    loads.erase(std::remove_if(loads.begin(), loads.end(),
                               [&](const pb::RegionLoad& load) { return hidden(load.region_specifier().value()); }),
                loads.end());
  }
  auto& transitions = *status.mutable_regions_in_transition();
  transitions.erase(std::remove_if(transitions.begin(), transitions.end(),
                                   [&](const pb::RegionInTransition& region) {
                                     const auto table = FromProto(region.region_state().region_info().table_name());
                                     return !table.ok() || !SeesTable(env, call, *table);
                                   }),
                    transitions.end());
  auto& counts = *status.mutable_table_region_states_count();
  counts.erase(std::remove_if(counts.begin(), counts.end(),
                              [&](const pb::TableRegionStatesCount& count) {
                                const auto table = FromProto(count.table_name());
                                return !table.ok() || !SeesTable(env, call, *table);
                              }),
               counts.end());
}

void AddStatus(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  Answer(service, gate, Need::kWorkers, methods::kGetClusterStatus,
         [&env](const ActiveParts& parts, const rpc::CallContext& call,
                const pb::GetClusterStatusRequest& request) -> Result<pb::GetClusterStatusResponse> {
           const std::set<int> options(request.options().begin(), request.options().end());
           pb::GetClusterStatusResponse response;
           *response.mutable_cluster_status() = MakeClusterStatus(parts, env, options);
           if (!SeesAll(env, call)) HideTables(env, call, *response.mutable_cluster_status());
           return response;
         });
  Answer(service, gate, Need::kWorkers, methods::kIsMasterInMaintenanceMode,
         [](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
            const pb::IsInMaintenanceModeRequest& /*request*/) -> Result<pb::IsInMaintenanceModeResponse> {
           pb::IsInMaintenanceModeResponse response;
           response.set_inmaintenancemode(false);
           return response;
         });
  // HBase's shell grants rights only if it finds AUTHORIZATION, and rights are granted before they are enforced.
  Answer(service, gate, Need::kReady, methods::kGetSecurityCapabilities,
         [&env](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
                const pb::SecurityCapabilitiesRequest& /*request*/) -> Result<pb::SecurityCapabilitiesResponse> {
           pb::SecurityCapabilitiesResponse response;
           response.add_capabilities(identity::CertificateCallers::UsersAreProven()
                                         ? pb::SecurityCapabilitiesResponse::SECURE_AUTHENTICATION
                                         : pb::SecurityCapabilitiesResponse::SIMPLE_AUTHENTICATION);
           if (env.judge != nullptr && env.judge->judges())
             response.add_capabilities(pb::SecurityCapabilitiesResponse::AUTHORIZATION);
           return response;
         });
}

// Decisions and rejections of the balancer are not recorded, as in HBase by default, so clients get an empty list.
// Requests and answers name their messages by the Java class.
Result<pb::LogEntry> NoLogEntries(const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
                                  const pb::LogRequest& request) {
  const std::string& name = request.log_class_name();
  for (const std::string_view kind : {"BalancerDecisions", "BalancerRejections"}) {
    const std::string request_class = std::string(kind) + "Request";
    if (!name.ends_with(request_class)) continue;
    pb::LogEntry entry;  // sends one empty entry, because zero bytes mean "absent"
    entry.set_log_class_name(name.substr(0, name.size() - request_class.size()) + std::string(kind) + "Response");
    entry.set_log_message("");
    return entry;
  }
  return IllegalRequest(fmt::format("Invalid request params: there are no log entries of {} here", name));
}

void AddStops(rpc::Service& service, ServiceEnv& env) {
  // The answer is sent before the process ends.
  service.On(
      methods::kStopMaster,
      [&env](const rpc::CallContext& call, const pb::StopMasterRequest& /*request*/, std::string_view /*cells*/,
             const rpc::Responder<pb::StopMasterResponse>& responder) {
        responder.Reply({});
        env.stop_process("StopMaster from " + call.peer);
      },
      kAdmin);
  AnswerLater(service, env.gate, Need::kWorkers, methods::kShutdown,
              [&env](const ActiveParts& /*parts*/, const rpc::CallContext& call, const pb::ShutdownRequest& /*request*/,
                     const rpc::Responder<pb::ShutdownResponse>& responder) {
                responder.Reply({});
                env.stop_cluster("Shutdown from " + call.peer);
              });
}

}  // namespace

void AddClusterMethods(rpc::Service& service, ServiceEnv& env) {
  AddIsMasterRunning(service, env);
  AddStatus(service, env);
  AddBalanceMethod(service, env);
  AddStops(service, env);
  Answer(service, env.gate, Need::kReady, methods::kGetMasterLogEntries, NoLogEntries);
}

std::shared_ptr<rpc::Service> MakeMasterService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kMasterService);
  AddTableMethods(*service, env);
  AddSnapshotMethods(*service, env);
  AddTableViews(*service, env);
  AddNamespaceViews(*service, env);
  AddCompactionViews(*service, env);
  AddNamespaceMethods(*service, env);
  AddPeerMethods(*service, env);
  AddQuotaMethods(*service, env);
  AddRightsMethods(*service, env);
  AddRegionMethods(*service, env);
  AddProcedureMethods(*service, env);
  AddNamedProcedureMethods(*service, env);
  AddServerMethods(*service, env);
  AddClusterMethods(*service, env);
  AddSwitchMethods(*service, env);
  AddMasterTargets(*service, env);
  return service;
}

}  // namespace ratchet::master
