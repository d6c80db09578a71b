// MasterService: move, assign, unassign. They answer when the procedure is durable, as HBase's do.
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/exceptions.h"
#include "master/server/master_logic.h"
#include "master/service/master_services.h"
#include "master/service/reply.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// Registers a verb on one region: `start(admin, region, request, context, done)`.
template <class Request, class Response, class Start>
void AddVerb(rpc::Service& service, const MasterGate& gate, const char* method, Start start) {
  service.On<Request, Response>(
      method,
      [&gate, start](const rpc::CallContext& call, const Request& request, std::string_view /*cells*/,
                     rpc::Responder<Response> responder) {
        const auto parts = gate.Admit(Need::kReady);
        if (!parts.ok()) {
          responder.Fail(parts.error());
          return;
        }
        const auto region = EncodedNameOf(request.region());
        if (!region.ok()) {
          responder.Fail(rpc::RemoteError(rpc::exception::kUnknownRegion, region.error().message()));
          return;
        }
        start(parts->logic->admin(), *region, request, RequestContext{call.user, {}},
              [parts = *parts, responder = std::move(responder)](Result<ProcId> pid) {
                if (!pid.ok()) return FailChecked(parts, responder, pid.error());
                responder.Reply(Response{});
              });
      },
      kAdmin);
}

}  // namespace

void AddRegionMethods(rpc::Service& service, ServiceEnv& env) {
  AddVerb<pb::MoveRegionRequest, pb::MoveRegionResponse>(
      service, env.gate, "MoveRegion",
      [](TableAdmin& admin, const std::string& region, const pb::MoveRegionRequest& request, RequestContext context,
         TableAdmin::Done done) {
        MoveTarget target;
        if (request.has_dest_server_name()) {
          auto server = FromProto(request.dest_server_name());
          if (!server.ok()) return done(rpc::RemoteError(rpc::exception::kDoNotRetryIo, server.error().message()));
          target.server = std::move(*server);
        }
        admin.MoveRegion(region, std::move(target), std::move(context), std::move(done));
      });
  AddVerb<pb::AssignRegionRequest, pb::AssignRegionResponse>(
      service, env.gate, "AssignRegion",
      [](TableAdmin& admin, const std::string& region, const pb::AssignRegionRequest& /*request*/,
         RequestContext context,
         TableAdmin::Done done) { admin.AssignRegion(region, std::move(context), std::move(done)); });
  AddVerb<pb::UnassignRegionRequest, pb::UnassignRegionResponse>(
      service, env.gate, "UnassignRegion",
      [](TableAdmin& admin, const std::string& region, const pb::UnassignRegionRequest& /*request*/,
         RequestContext context,
         TableAdmin::Done done) { admin.UnassignRegion(region, std::move(context), std::move(done)); });
}

}  // namespace ratchet::master
