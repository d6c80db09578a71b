// RatchetService.GiveUpRegion, FillHoles and PutBackEdits: an operator's decisions about lost rows.
#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

void GiveUp(TableAdmin& admin, const rpb::GiveUpRegionRequest& request, RequestContext context, TableAdmin::Done done) {
  admin.GiveUpRegion(request.encoded_name(), std::move(context), std::move(done));
}

void Fill(TableAdmin& admin, const rpb::FillHolesRequest& request, RequestContext context, TableAdmin::Done done) {
  const auto table = FromProto(request.table());
  if (!table.ok()) return done(rpc::RemoteError(rpc::exception::kDoNotRetryIo, table.error().message()));
  admin.FillHoles(*table, std::move(context), std::move(done));
}

// `ask` calls the master's logic.
template <class Request>
void AddRepair(rpc::Service& service, const MasterGate& gate,
               const rpc::Method<Request, rpb::MendTableResponse>& method,
               void (*ask)(TableAdmin& admin, const Request& request, RequestContext context, TableAdmin::Done done)) {
  AnswerLater(service, gate, Need::kReady, method,
              [ask](const ActiveParts& parts, const rpc::CallContext& call, const Request& request,
                    const rpc::Responder<rpb::MendTableResponse>& responder) {
                ask(parts.logic->admin, request, ContextOf(call, request), AnswersPid(parts, responder));
              });
}

void PutBackEdits(const ActiveParts& parts, const rpc::CallContext& call, const rpb::PutBackEditsRequest& request,
                  const rpc::Responder<rpb::MendTableResponse>& responder) {
  const auto done = AnswersPid(parts, responder);
  if (!parts.logic->reconciler.KeptEdits().contains(request.encoded_name())) {
    return done(rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                                 fmt::format("quarantine/edits has no edits of region {}: edits appear there a few "
                                             "seconds after their log was split, until the region's next opening",
                                             request.encoded_name())));
  }
  parts.logic->admin.ReopenRegion(request.encoded_name(), ContextOf(call, request), done);
}

}  // namespace

void AddRepairMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kPutBackEdits, PutBackEdits);
  AddRepair(service, env.gate, methods::kGiveUpRegion, GiveUp);
  AddRepair(service, env.gate, methods::kFillHoles, Fill);
}

}  // namespace ratchet::master
