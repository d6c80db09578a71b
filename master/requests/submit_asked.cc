#include "master/requests/submit_asked.h"

#include <utility>

#include "master/cluster/errors.h"
#include "master/procedures/core/master_env.h"

namespace ratchet::master {

bool AnsweredAtOnce(MasterEnv& env, const RequestContext& context, const PidDone& done, bool without_meta) {
  if (context.nonce.valid()) {
    if (const auto known = env.executor->FindNonce(context.nonce)) return done(*known), true;
  }
  if (without_meta || env.meta_loaded.load()) return false;
  return done(PleaseHold("the master is starting: hbase:meta is not loaded yet")), true;
}

bool IsFinalForClients(const Error& error) {
  return error.remote_class().empty() ? procedure::IsFinal(error) : !IsRetried(error);
}

void SubmitAsked(MasterEnv& env, procedure::ProcedurePtr procedure, RequestContext context,
                 std::function<Status()> pre_check, PidDone done, bool without_meta) {
  if (AnsweredAtOnce(env, context, done, without_meta)) return;
  procedure::SubmitOptions options;
  // Without an owner the procedure would count as the master's own.
  options.owner = context.user.empty() ? "unnamed" : std::move(context.user);
  options.nonce = context.nonce;
  options.pre_check = std::move(pre_check);
  options.is_final = IsFinalForClients;
  env.executor->SubmitAsync(std::move(procedure), std::move(options), std::move(done));
}

}  // namespace ratchet::master
