// RatchetService.GiveUpRegion and FillHoles: what an operator decides about rows that are lost.
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/exceptions.h"
#include "master/control/master_logic.h"
#include "master/service/master_services.h"
#include "master/service/reply.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;
using MendResponder = rpc::Responder<rpb::MendTableResponse>;

// `ask`: what to ask the master's logic for.
template <class Request>
void Mend(ServiceEnv& env, const rpc::CallContext& call, const Request& request, const MendResponder& responder,
          void (*ask)(TableAdmin& admin, const Request& request, RequestContext context, TableAdmin::Done done)) {
  const auto parts = env.gate.Admit(Need::kReady);
  if (!parts.ok()) {
    responder.Fail(parts.error());
    return;
  }
  ask(parts->logic->admin(), request, {call.user, {request.nonce_group(), request.nonce()}},
      AnswersPid(*parts, responder));
}

void GiveUp(TableAdmin& admin, const rpb::GiveUpRegionRequest& request, RequestContext context, TableAdmin::Done done) {
  admin.GiveUpRegion(request.encoded_name(), std::move(context), std::move(done));
}

void Fill(TableAdmin& admin, const rpb::FillHolesRequest& request, RequestContext context, TableAdmin::Done done) {
  const auto table = FromProto(request.table());
  if (!table.ok()) return done(rpc::RemoteError(rpc::exception::kDoNotRetryIo, table.error().message()));
  admin.FillHoles(*table, std::move(context), std::move(done));
}

}  // namespace

void AddMendMethods(rpc::Service& service, ServiceEnv& env) {
  service.On<rpb::GiveUpRegionRequest, rpb::MendTableResponse>(
      "GiveUpRegion",
      [&env](const rpc::CallContext& call, const rpb::GiveUpRegionRequest& request, std::string_view /*cells*/,
             const MendResponder& responder) { Mend(env, call, request, responder, &GiveUp); },
      kAdmin);
  service.On<rpb::FillHolesRequest, rpb::MendTableResponse>(
      "FillHoles",
      [&env](const rpc::CallContext& call, const rpb::FillHolesRequest& request, std::string_view /*cells*/,
             const MendResponder& responder) { Mend(env, call, request, responder, &Fill); },
      kAdmin);
}

}  // namespace ratchet::master
