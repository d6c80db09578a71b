#include "master/requests/submit_asked.h"

#include <utility>

#include "common/rights/need.h"
#include "common/rights/nonce_group.h"
#include "master/cluster/errors.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/master_options.h"

namespace ratchet::master {

procedure::Nonce NonceOf(const RequestContext& context, bool judges_users) {
  procedure::Nonce nonce = context.nonce;
  if (nonce.valid() && judges_users) nonce.group = rights::NonceGroupOf(context.user, nonce.group);
  return nonce;
}

bool AnsweredAtOnce(MasterEnv& env, const RequestContext& context, const PidDone& done, bool without_meta) {
  if (context.nonce.valid()) {
    if (const auto known = env.executor->FindNonce(NonceOf(context, env.options.judges_users())))
      return done(*known), true;
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
  options.nonce = NonceOf(context, env.options.judges_users());
  // Without an owner the procedure would count as the master's own.
  options.owner = context.user.empty() ? std::string(rights::kUnnamedOwner) : std::move(context.user);
  options.origin = std::move(context.origin);
  options.pre_check = std::move(pre_check);
  options.is_final = IsFinalForClients;
  env.executor->SubmitAsync(std::move(procedure), std::move(options), std::move(done));
}

}  // namespace ratchet::master
