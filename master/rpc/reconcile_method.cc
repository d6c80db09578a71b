// RatchetService.Reconcile: shows an operator the findings of the reconciler, and starts a check.
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/repair/reconciler.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

rpb::ReconcileResponse Findings(const Reconciler& reconciler) {
  rpb::ReconcileResponse response;
  for (const ReconcilerFinding& finding : reconciler.Findings()) {
    auto& row = *response.add_finding();
    row.set_what(finding.what);
    row.set_at_wall_ms(static_cast<std::uint64_t>(finding.at_ms));
    if (!finding.server.host.empty()) ToProto(finding.server, *row.mutable_server());
    if (!finding.encoded.empty()) row.set_encoded_name(finding.encoded);
  }
  for (const auto& [encoded, what] : reconciler.Inconsistencies()) {
    auto& row = *response.add_doubt();
    row.set_what(what);
    row.set_encoded_name(encoded);
  }
  return response;
}

void Reconcile(const ActiveParts& parts, const rpc::CallContext& /*call*/, const rpb::ReconcileRequest& request,
               const rpc::Responder<rpb::ReconcileResponse>& responder) {
  Reconciler& reconciler = parts.logic->reconciler;
  if (!request.look_now()) return ReplyChecked(parts, responder, Findings(reconciler));
  reconciler.LookNow([parts, responder](const Status& looked) {
    if (!looked.ok()) return FailChecked(parts, responder, looked.error());
    parts.logic->reconciler.CompareWithMeta([parts, responder](const Status& compared) {
      if (!compared.ok()) return FailChecked(parts, responder, compared.error());
      ReplyChecked(parts, responder, Findings(parts.logic->reconciler));
    });
  });
}

}  // namespace

void AddReconcileMethod(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kReconcile, Reconcile);
}

}  // namespace ratchet::master
