// Shared by handlers of HBase's methods that submit a procedure and return its pid.
#pragma once

#include <utility>

#include "common/rpc/call.h"
#include "common/rpc/service.h"
#include "master/requests/table_admin.h"
#include "master/rpc/reply.h"

namespace ratchet::master {

// Who asks, from where, and how.
inline RequestContext ContextOf(const rpc::CallContext& call, procedure::Nonce nonce = {}) {
  return {call.user, nonce, {call.peer, call.service + "." + call.method}};
}

template <class Request>
RequestContext ContextOf(const rpc::CallContext& call, const Request& request) {
  return ContextOf(call, procedure::Nonce{request.nonce_group(), request.nonce()});
}

// Answers with the pid when it is durable; an error depends on cluster state, so it passes the CHECK first.
template <class Response>
TableAdmin::Done AnswerPid(const ActiveParts& parts, rpc::Responder<Response> responder) {
  return [parts, responder = std::move(responder)](Result<ProcId> pid) {
    if (!pid.ok()) return FailChecked(parts, responder, pid.error());
    Response response;
    response.set_proc_id(pid->value());
    responder.Reply(response);
  };
}

}  // namespace ratchet::master
