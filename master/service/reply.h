// Answering from cluster state: every answer, an error included, passes the epoch CHECK first (rule S33).
#pragma once

#include "common/rpc/call.h"
#include "common/rpc/service.h"
#include "master/service/master_gate.h"

namespace ratchet::master {

// Queue of every method that asks about or changes the cluster.
inline constexpr rpc::MethodOptions kAdmin{rpc::QueueClass::kAdmin};
inline constexpr rpc::MethodOptions kMetaQuestions{rpc::QueueClass::kMeta};  // where hbase:meta and the masters are

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

// What answers a submission: its pid, or why there is none. `responder` is of a message with a pid.
template <class Response>
[[nodiscard]] auto AnswersPid(const ActiveParts& parts, const rpc::Responder<Response>& responder) {
  return [parts, responder](const Result<ProcId>& pid) {
    if (!pid.ok()) return FailChecked(parts, responder, pid.error());
    Response response;
    response.set_pid(pid->value());
    responder.Reply(response);
  };
}

// Registers a method that needs the active master and answers by itself, at once or later:
// `run(parts, context, request, responder)`. Until the activation has come as far as `need` the gate's error answers.
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

// The same for a method whose answer is there at once: `evaluate(parts, context, request) -> Result<Response>`.
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

// A method that needs no active master and whose answer is there at once: `evaluate(context, request) -> Response`.
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
