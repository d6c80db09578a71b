#include "common/client/master_caller.h"

#include <google/protobuf/message_lite.h>

#include "common/rpc/exceptions.h"

namespace ratchet::client {

Status MasterCaller::CallRaw(RetryLoop& loop, std::string_view service, std::string_view method, Effect effect,
                             const google::protobuf::MessageLite& request,
                             const std::shared_ptr<google::protobuf::MessageLite>& response) {
  for (;;) {
    Error failure(Code::kUnavailable, "not tried");
    loop.Attempt(fmt::format("asking {} for the active master", finder_.Describe()));
    if (const auto master = finder_.Find(loop.Remaining()); master.ok()) {
      loop.Attempt(fmt::format("asking the master at {} ({})", master->ToString(), method));
      rpc::CallOptions options;
      options.timeout = loop.AttemptTimeout(rpc_timeout_);
      options.priority = 100;
      response->Clear();
      auto answer = pool_.Get(service, *master)->CallRawSync(method, request, response, std::move(options));
      if (answer.ok()) return Ok();
      if (!rpc::IsTransient(answer.error()) && !rpc::OutcomeUnknown(answer.error()) &&
          !rpc::IsClass(answer.error(), rpc::kNotSent)) {
        return answer.error();
      }
      failure = answer.error().Annotate(fmt::format("master {}", master->ToString()));
      finder_.Forget();
    } else {
      if (master.error().code() == Code::kInvalidArgument) return master.error();
      failure = master.error();
    }
    RATCHET_TRY(loop.Pause(failure, method, effect));
  }
}

}  // namespace ratchet::client
