#include "master/control/submit_asked.h"

#include <utility>

#include "master/env/master_env.h"
#include "master/state/errors.h"
#include "procedure/executor.h"

namespace ratchet::master {

void SubmitAsked(MasterEnv& env, procedure::ProcedurePtr procedure, RequestContext context,
                 std::function<Status()> pre_check, std::function<void(Result<ProcId>)> done, bool without_meta) {
  if (context.nonce.valid()) {
    if (const auto known = env.executor->FindNonce(context.nonce)) return done(*known);
  }
  if (!without_meta && !env.meta_loaded.load())
    return done(PleaseHold("the master is starting: hbase:meta is not loaded yet"));
  procedure::SubmitOptions options;
  // Without an owner it would count as the master's own.
  options.owner = context.user.empty() ? "unnamed" : std::move(context.user);
  options.nonce = context.nonce;
  options.pre_check = std::move(pre_check);
  env.executor->SubmitAsync(std::move(procedure), std::move(options), std::move(done));
}

}  // namespace ratchet::master
