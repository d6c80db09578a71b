// Answers from cluster state: every answer, errors included, passes the epoch CHECK first (rule S33: check before state
// replies).
#pragma once

#include "common/rpc/call.h"
#include "common/rpc/service.h"
#include "master/rpc/master_gate.h"

namespace ratchet::master {

// Queue of every method that reads or changes the state of the cluster.
inline constexpr rpc::MethodOptions kAdmin{rpc::QueueClass::kAdmin};
inline constexpr rpc::MethodOptions kMetaQuestions{rpc::QueueClass::kMeta};  // locations of hbase:meta and of masters

template <class Response>
void ReplyChecked(const ActiveParts& parts, const rpc::Responder<Response>& responder, const Response& response) {
  if (const Status owner = CheckBeforeReply(parts); !owner.ok()) {
    responder.Fail(owner.error());
  } else {
    responder.Reply(response);
  }
}

template <class Response>
void FailChecked(const ActiveParts& parts, const rpc::Responder<Response>& responder, const Error& error) {
  const Status owner = CheckBeforeReply(parts);
  responder.Fail(owner.ok() ? error : owner.error());
}

// Answers a submission with its pid or its error. `responder` has a message with a pid.
template <class Response>
[[nodiscard]] auto AnswersPid(const ActiveParts& parts, const rpc::Responder<Response>& responder) {
  return [parts, responder](const Result<ProcId>& pid) {
    if (!pid.ok()) return FailChecked(parts, responder, pid.error());
    Response response;
    response.set_pid(pid->value());
    responder.Reply(response);
  };
}

// Registers a method that needs the active master and sends its answer itself, at once or later: `run(parts, context,
// request, responder)`. Before the activation reaches `need`, the method returns the gate's error.
template <class Request, class Response, class Run>
void AnswerLater(rpc::Service& service, const MasterGate& gate, Need need, const rpc::Method<Request, Response>& method,
                 Run run, rpc::MethodOptions options = kAdmin) {
  service.On(
      method,
      [&gate, need, run = std::move(run)](const rpc::CallContext& context, const Request& request,
                                          std::string_view /*cells*/, const rpc::Responder<Response>& responder) {
        const auto parts = gate.Admit(need);
        if (!parts.ok()) {
          responder.Fail(parts.error());
          return;
        }
        run(*parts, context, request, responder);
      },
      options);
}

// Like AnswerLater, for a method that answers at once: `evaluate(parts, context, request) -> Result<Response>`.
template <class Request, class Response, class Evaluate>
void Answer(rpc::Service& service, const MasterGate& gate, Need need, const rpc::Method<Request, Response>& method,
            Evaluate evaluate, rpc::MethodOptions options = kAdmin) {
  AnswerLater(
      service, gate, need, method,
      [evaluate = std::move(evaluate)](const ActiveParts& parts, const rpc::CallContext& context,
                                       const Request& request, const rpc::Responder<Response>& responder) {
        const Result<Response> response = evaluate(parts, context, request);
        if (response.ok()) {
          ReplyChecked(parts, responder, *response);
        } else {
          FailChecked(parts, responder, response.error());
        }
      },
      options);
}

// Registers a method that needs no active master and answers at once: `evaluate(context, request) -> Response`.
template <class Request, class Response, class Evaluate>
void AnswerAlways(rpc::Service& service, const rpc::Method<Request, Response>& method, Evaluate evaluate,
                  rpc::MethodOptions options = kAdmin) {
  service.On(
      method,
      [evaluate = std::move(evaluate)](const rpc::CallContext& context, const Request& request,
                                       std::string_view /*cells*/, const rpc::Responder<Response>& responder) {
        responder.Reply(evaluate(context, request));
      },
      options);
}

}  // namespace ratchet::master
