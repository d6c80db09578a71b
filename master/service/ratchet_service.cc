// RatchetService: our own command line's view of the master (common/model/proto/ratchet.proto).
#include <algorithm>
#include <map>

#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "host/service/procedure_requests.h"
#include "master/control/master_logic.h"
#include "master/remote/remote_dispatcher.h"
#include "master/service/ratchet_views.h"
#include "master/service/region_list.h"
#include "master/service/reply.h"
#include "master/service/why_method.h"
#include "master/state/errors.h"

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

Result<rpb::ListRegionsResponse> ListRegions(const ActiveParts& parts, TimePoint now,
                                             const rpb::ListRegionsRequest& request) {
  RATCHET_ASSIGN(const ListedRegions list, ChooseRegions(parts, request));
  rpb::ListRegionsResponse response;
  if (list.total.has_value()) response.set_total(*list.total);
  for (const RegionNode& node : list.nodes) {
    auto& row = *response.add_region();
    ToProto(node.info, *row.mutable_region());
    row.set_encoded_name(node.encoded);
    row.set_state(std::string(RegionStateText(node.state)));
    if (node.location.has_value()) ToProto(*node.location, *row.mutable_server());
    row.set_open_seq(node.opening.value());
    if (node.owner.valid()) row.set_procedure(node.owner.value());
    const auto since = std::chrono::duration_cast<Millis>(now - node.last_update);
    row.set_since_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, since.count())));
  }
  return response;
}

Result<rpb::ListServersResponse> ListServers(const ActiveParts& parts, const ServiceEnv& env,
                                             const rpb::ListServersRequest& request) {
  const auto regions = parts.logic->regions().CountByServer();
  const auto meta = parts.logic->regions().MetaLocation();
  std::map<ServerName, ServerQueueView> queues;
  for (ServerQueueView& view : parts.dispatcher->View()) queues[view.server] = std::move(view);
  const TimePoint now = env.gate.clock().Now();
  rpb::ListServersResponse response;
  for (const ServerView& server : parts.logic->servers().List()) {
    if (server.phase != ServerPhase::kOnline && !request.include_dead()) continue;
    auto& row = *response.add_server();
    ToProto(server.name, *row.mutable_server());
    row.set_state(std::string(ServerPhaseName(server.phase)));
    row.set_version(server.version);
    const auto count = regions.find(server.name);
    row.set_regions(count == regions.end() ? 0 : static_cast<std::uint32_t>(count->second));
    const auto ago = std::chrono::duration_cast<Millis>(now - server.last_heartbeat);
    row.set_last_report_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ago.count())));
    if (const auto load = env.loads.Get(server.name)) row.set_requests_per_second(load->number_of_requests());
    row.set_carries_meta(meta == server.name);
    if (const auto note = env.pasts.Get(server.name)) {
      row.set_came_again(note->past.count);
      row.set_came_again_why(note->past.why);
      if (note->descriptors.limit > 0) {
        row.set_descriptors_used(note->descriptors.used);
        row.set_descriptor_limit(note->descriptors.limit);
      }
      if (note->info_port != 0) row.set_info_port(note->info_port);
    }
    if (const auto hangs = env.storage.HangsFor(server.name, now)) {
      row.set_storage_hangs_ms(static_cast<std::uint64_t>(hangs->count()));
    }
    if (server.crash_procedure.valid()) row.set_crash_procedure(server.crash_procedure.value());
    const auto queue = queues.find(server.name);
    if (queue == queues.end()) continue;
    row.set_dispatch_queued(static_cast<std::uint32_t>(queue->second.queued));
    row.set_dispatch_attempt(queue->second.failures);
    if (!queue->second.last_error.empty()) row.set_dispatch_last_error(queue->second.last_error);
  }
  return response;
}

void Transit(const ActiveParts& parts, const rpc::CallContext& call, const rpb::TransitRegionRequest& request,
             const rpc::Responder<rpb::TransitRegionResponse>& responder) {
  TableAdmin::Done done = AnswersPid(parts, responder);
  RequestContext context{call.user, {request.nonce_group(), request.nonce()}};
  TableAdmin& admin = parts.logic->admin();
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
  // Also from a standby, about itself.
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
  Answer(service, env.gate, Need::kRecovered, methods::kListRegions,
         [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/, const rpb::ListRegionsRequest& request) {
           return ListRegions(parts, env.gate.clock().Now(), request);
         });
  Answer(service, env.gate, Need::kRecovered, methods::kListServers,
         [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/, const rpb::ListServersRequest& request) {
           return ListServers(parts, env, request);
         });
}

}  // namespace

std::shared_ptr<rpc::Service> MakeRatchetService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kRatchetService);
  AddStatusMethods(*service, env);
  AddOperatorMethods(*service, env);
  AddHistoryMethod(*service, env);
  Answer(*service, env.gate, Need::kRecovered, methods::kListProcedures, ListProcedures);
  Answer(*service, env.gate, Need::kRecovered, methods::kGetProcedure, GetProcedure);
  Answer(*service, env.gate, Need::kRecovered, methods::kListLocks, ListLocks);
  AnswerLater(*service, env.gate, Need::kReady, methods::kTransitRegion, Transit);
  AddReconcileMethod(*service, env);
  AddMendMethods(*service, env);
  AddDrainMethods(*service, env);
  AddWhyMethod(*service, env);
  return service;
}

}  // namespace ratchet::master
