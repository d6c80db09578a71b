#include "common/client/master_caller.h"

#include <google/protobuf/message_lite.h>

#include "common/rpc/exceptions.h"

namespace ratchet::client {
namespace {

Effect EffectOf(std::string_view method) {
  for (const std::string_view query : {"Get", "get", "List", "Is"}) {
    if (method.starts_with(query)) return Effect::kQueries;
  }
  return Effect::kChanges;
}

}  // namespace

Status MasterCaller::CallRaw(RetryLoop& loop, const std::string& service, std::string_view method,
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
    RATCHET_TRY(loop.Pause(failure, method, EffectOf(method)));
  }
}

}  // namespace ratchet::client
