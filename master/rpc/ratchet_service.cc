// RatchetService: the master's service for the command line `ratchet` (common/model/proto/ratchet.proto).

#include "common/rpc/methods/ratchet_service.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "master/cluster/errors.h"
#include "master/rpc/ratchet_views.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/rpc/targets.h"
#include "master/rpc/why_method.h"
#include "master/startup/master_logic.h"
#include "procedure/ops/procedure_requests.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

Result<rpb::ListProceduresResponse> ListProcedures(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                   const rpb::ListProceduresRequest& request) {
  return host::ListProcedures(*parts.executor, request, FillProcedure);
}

Result<rpb::GetProcedureResponse> GetProcedure(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                               const rpb::GetProcedureRequest& request) {
  return host::GetProcedure(*parts.executor, request, FillProcedure);
}

Result<rpb::ListLocksResponse> ListLocks(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                         const rpb::ListLocksRequest& /*request*/) {
  return host::ListLocks(*parts.executor);
}

void Transit(const ActiveParts& parts, const rpc::CallContext& call, const rpb::TransitRegionRequest& request,
             const rpc::Responder<rpb::TransitRegionResponse>& responder) {
  TableAdmin::Done done = AnswersPid(parts, responder);
  RequestContext context = ContextOf(call, request);
  TableAdmin& admin = parts.logic->admin;
  switch (request.verb()) {
    case rpb::TransitRegionRequest::ASSIGN:
      return admin.AssignRegion(request.encoded_name(), std::move(context), std::move(done));
    case rpb::TransitRegionRequest::UNASSIGN:
      return admin.UnassignRegion(request.encoded_name(), std::move(context), std::move(done));
    case rpb::TransitRegionRequest::MOVE: break;
  }
  MoveTarget target;
  if (request.has_destination()) {
    auto server = FromProto(request.destination());
    if (!server.ok()) return done(rpc::RemoteError(rpc::exception::kDoNotRetryIo, server.error().message()));
    target.server = std::move(*server);
  }
  admin.MoveRegion(request.encoded_name(), std::move(target), std::move(context), std::move(done));
}

void AddStatusMethods(rpc::Service& service, ServiceEnv& env) {
  // A standby answers this call too, about itself.
  service.On(
      methods::kGetStatus,
      [&env](const rpc::CallContext& /*call*/, const rpb::GetStatusRequest& /*request*/, std::string_view /*cells*/,
             const rpc::Responder<rpb::GetStatusResponse>& responder) {
        const auto parts = env.gate.Admit(Need::kRecovered);
        if (!parts.ok()) {
          responder.Reply(MakeStatus(env));
          return;
        }
        ReplyChecked(*parts, responder, MakeStatus(env));
      },
      kAdmin);
}

}  // namespace

std::shared_ptr<rpc::Service> MakeRatchetService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kRatchetService);
  AddStatusMethods(*service, env);
  AddListMethods(*service, env);
  AddOperatorMethods(*service, env);
  AddListRights(*service, env);
  AddTokenMethods(*service, env);
  AddHistoryMethod(*service, env);
  Answer(*service, env.gate, Need::kRecovered, methods::kListProcedures, ListProcedures);
  Answer(*service, env.gate, Need::kRecovered, methods::kGetProcedure, GetProcedure);
  Answer(*service, env.gate, Need::kRecovered, methods::kListLocks, ListLocks);
  AnswerLater(*service, env.gate, Need::kReady, methods::kTransitRegion, Transit);
  AddReconcileMethod(*service, env);
  AddRepairMethods(*service, env);
  AddDrainMethods(*service, env);
  AddPlanMethod(*service, env);
  AddCompactTable(*service, env);
  AddSnapshotTransferMethods(*service, env);
  AddWhyMethod(*service, env);
  AddRatchetTargets(*service, env);
  return service;
}

}  // namespace ratchet::master
