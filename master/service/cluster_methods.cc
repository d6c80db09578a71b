// MasterService: the state of the cluster, its switches, and stopping it.
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/control/master_logic.h"
#include "master/service/cluster_status.h"
#include "master/service/master_services.h"
#include "master/service/reply.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// Java clients ask this before everything else. False, rather than an error, sends them to look for the active one.
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

void AddStatus(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  Answer(service, gate, Need::kWorkers, methods::kGetClusterStatus,
         [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/,
                const pb::GetClusterStatusRequest& request) -> Result<pb::GetClusterStatusResponse> {
           const std::set<int> options(request.options().begin(), request.options().end());
           pb::GetClusterStatusResponse response;
           *response.mutable_cluster_status() = MakeClusterStatus(parts, env, options);
           return response;
         });
  Answer(service, gate, Need::kWorkers, methods::kIsMasterInMaintenanceMode,
         [](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
            const pb::IsInMaintenanceModeRequest& /*request*/) -> Result<pb::IsInMaintenanceModeResponse> {
           pb::IsInMaintenanceModeResponse response;
           response.set_inmaintenancemode(false);
           return response;
         });
  Answer(service, gate, Need::kReady, methods::kGetSecurityCapabilities,
         [](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
            const pb::SecurityCapabilitiesRequest& /*request*/) -> Result<pb::SecurityCapabilitiesResponse> {
           pb::SecurityCapabilitiesResponse response;
           response.add_capabilities(pb::SecurityCapabilitiesResponse::SIMPLE_AUTHENTICATION);
           return response;
         });
}

// The answer comes when the moves are durable. `dry_run` plans with the switch off too, as in HBase.
void AddBalance(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kBalance,
              [&env](const ActiveParts& parts, const rpc::CallContext& call, const pb::BalanceRequest& request,
                     const rpc::Responder<pb::BalanceResponse>& responder) {
                if (!request.dry_run() && !env.balancer_on.load()) {
                  pb::BalanceResponse off;
                  off.set_balancer_ran(false);
                  return ReplyChecked(parts, responder, off);
                }
                parts.logic->balancer().Balance(
                    {request.dry_run(), request.ignore_rit(), call.user},
                    [parts, responder](const Result<Balancer::Outcome>& outcome) {
                      if (!outcome.ok()) return FailChecked(parts, responder, outcome.error());
                      pb::BalanceResponse response;
                      response.set_balancer_ran(outcome->put_off.empty());
                      response.set_moves_calculated(static_cast<std::uint32_t>(outcome->planned));
                      response.set_moves_executed(static_cast<std::uint32_t>(outcome->begun));
                      ReplyChecked(parts, responder, response);
                    });
              });
}

void AddBalancerSwitch(rpc::Service& service, ServiceEnv& env) {
  Answer(service, env.gate, Need::kReady, methods::kSetBalancerRunning,
         [&env](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
                const pb::SetBalancerRunningRequest& request) -> Result<pb::SetBalancerRunningResponse> {
           pb::SetBalancerRunningResponse response;
           response.set_prev_balance_value(env.balancer_on.exchange(request.on()));
           return response;
         });
  Answer(service, env.gate, Need::kReady, methods::kIsBalancerEnabled,
         [&env](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
                const pb::IsBalancerEnabledRequest& /*request*/) -> Result<pb::IsBalancerEnabledResponse> {
           pb::IsBalancerEnabledResponse response;
           response.set_enabled(env.balancer_on.load());
           return response;
         });
}

void AddSplitAndMergeSwitches(rpc::Service& service, ServiceEnv& env) {
  const auto switch_of = [&env](int type) -> std::atomic<bool>& {
    return type == pb::MERGE ? env.merge_on : env.split_on;
  };
  Answer(service, env.gate, Need::kReady, methods::kSetSplitOrMergeEnabled,
         [switch_of](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
                     const pb::SetSplitOrMergeEnabledRequest& request) -> Result<pb::SetSplitOrMergeEnabledResponse> {
           pb::SetSplitOrMergeEnabledResponse response;
           for (const int type : request.switch_types()) {
             response.add_prev_value(switch_of(type).exchange(request.enabled()));
           }
           return response;
         });
  Answer(service, env.gate, Need::kReady, methods::kIsSplitOrMergeEnabled,
         [switch_of](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
                     const pb::IsSplitOrMergeEnabledRequest& request) -> Result<pb::IsSplitOrMergeEnabledResponse> {
           pb::IsSplitOrMergeEnabledResponse response;
           response.set_enabled(switch_of(request.switch_type()).load());
           return response;
         });
}

void AddStops(rpc::Service& service, ServiceEnv& env) {
  // The answer leaves before the process does.
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
  AddBalance(service, env);
  AddBalancerSwitch(service, env);
  AddSplitAndMergeSwitches(service, env);
  AddStops(service, env);
}

std::shared_ptr<rpc::Service> MakeMasterService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kMasterService);
  AddTableMethods(*service, env);
  AddTableViews(*service, env);
  AddNamespaceViews(*service, env);
  AddRegionMethods(*service, env);
  AddProcedureMethods(*service, env);
  AddServerMethods(*service, env);
  AddClusterMethods(*service, env);
  return service;
}

}  // namespace ratchet::master
