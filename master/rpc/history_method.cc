// RatchetService: ended procedures and failovers, from the files below <root>/history.
#include <memory>

#include "common/model/proto/history.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/history/history_book.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

// Reads files on the thread for slow work (S88: slow storage work on its own thread).
void ListHistory(const ActiveParts& parts, const rpc::CallContext& /*call*/, const rpb::ListHistoryRequest& request,
                 const rpc::Responder<rpb::ListHistoryResponse>& responder) {
  if (parts.history == nullptr)
    return FailChecked(parts, responder, rpc::RemoteError(rpc::exception::kDoNotRetryIo, "the history is disabled"));
  const bool begun = parts.logic->env.RunSlowWork([parts, responder, request] {
    const auto response = parts.history->List(request);
    if (response.ok()) return ReplyChecked(parts, responder, *response);
    const bool later = response.error().code() == Code::kUnavailable;
    FailChecked(parts, responder,
                rpc::RemoteError(later ? rpc::exception::kPleaseHold : rpc::exception::kDoNotRetryIo,
                                 response.error().message()));
  });
  if (!begun)
    FailChecked(parts, responder,
                rpc::RemoteError(rpc::exception::kCallQueueTooBig, "too many tasks wait for the master's storage"));
}

}  // namespace

void AddHistoryMethod(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kRecovered, methods::kListHistory, ListHistory);
}

}  // namespace ratchet::master
