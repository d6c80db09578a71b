#include "master/requests/rights_admin.h"

#include <utility>

#include "master/procedures/core/master_env.h"
#include "master/procedures/rights/change_tokens.h"
#include "master/procedures/rights/replace_token_key.h"
#include "master/procedures/rights/set_rights.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// `done` is called at the procedure's end.
void SubmitToEnd(MasterEnv& env, procedure::ProcedurePtr procedure, RequestContext context,
                 RightsAdmin::TokensDone done) {
  SubmitAsked(
      env, std::move(procedure), std::move(context), {},
      [&env, done = std::move(done)](const Result<ProcId>& pid) {
        if (!pid.ok()) return done(pid.error(), {});
        env.executor->OnFinished(*pid, [done, pid = *pid](const procedure::ProcedureResult& ended) {
          if (ended.error) return done(*ended.error, {});
          done(pid, ended.result);
        });
      },
      /*without_meta=*/true);
}

RightsAdmin::TokensDone WithoutResult(RightsAdmin::Done done) {
  return [done = std::move(done)](const Result<ProcId>& pid, const std::string& /*result*/) {
    done(pid.ok() ? Ok() : Status(pid.error()));
  };
}

void SubmitChange(MasterEnv& env, const rights::RightsEntry& entry, pb::SetRightsData::Change change,
                  RequestContext context, RightsAdmin::Done done) {
  if (Status sound = CheckRights(entry, change); !sound.ok()) return done(std::move(sound));
  const auto table = env.tables.Get(entry.scope.table);
  const bool gives = change != pb::SetRightsData::TAKE && entry.scope.level >= rights::Scope::Level::kTable;
  const std::string directory = gives && table.has_value() ? table->directory : std::string();
  SubmitToEnd(env, SetRights::Make(entry, change, directory), std::move(context), WithoutResult(std::move(done)));
}

}  // namespace

void RightsAdmin::Grant(const rights::RightsEntry& entry, bool merge, RequestContext context, Done done) {
  SubmitChange(env_, entry, merge ? pb::SetRightsData::ADD : pb::SetRightsData::REPLACE, std::move(context),
               std::move(done));
}

void RightsAdmin::Revoke(const rights::RightsEntry& entry, RequestContext context, Done done) {
  SubmitChange(env_, entry, pb::SetRightsData::TAKE, std::move(context), std::move(done));
}

void RightsAdmin::ReplaceKey(const TokenKeyOrder& order, RequestContext context, Done done) {
  SubmitToEnd(env_, ReplaceTokenKey::Make(order), std::move(context), WithoutResult(std::move(done)));
}

void RightsAdmin::IssueToken(const IssuedToken& token, RequestContext context, TokensDone done) {
  SubmitToEnd(env_, ChangeTokens::Issue(token), std::move(context), std::move(done));
}

void RightsAdmin::RevokeTokens(const std::string& user, std::optional<std::int64_t> sequence, RequestContext context,
                               TokensDone done) {
  SubmitToEnd(env_, ChangeTokens::Revoke(user, sequence), std::move(context), std::move(done));
}

}  // namespace ratchet::master
