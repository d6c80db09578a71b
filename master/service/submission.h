// What the handlers of HBase's methods share that submit a procedure and answer its pid.
#pragma once

#include <utility>

#include "common/rpc/call.h"
#include "common/rpc/service.h"
#include "master/control/table_admin.h"
#include "master/service/reply.h"

namespace ratchet::master {

template <class Request>
RequestContext ContextOf(const rpc::CallContext& call, const Request& request) {
  return RequestContext{call.user, {request.nonce_group(), request.nonce()}};
}

// Answers the pid once it is durable; a refusal, which depends on cluster state, passes the CHECK first.
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
