#include "master/procedures/rights/change_tokens.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/exception_names.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rights/rights_entry.h"
#include "master/cluster/errors.h"
#include "master/cluster/rights_book.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

ProcedurePtr ChangeTokens::Issue(const IssuedToken& token) {
  pb::ChangeTokensData data;
  data.set_issued(TokenRecord(token));
  return std::make_unique<ChangeTokens>(std::move(data));
}

ProcedurePtr ChangeTokens::Revoke(const std::string& user, std::optional<std::int64_t> sequence) {
  pb::ChangeTokensData data;
  data.set_user(user);
  if (sequence.has_value()) data.set_sequence(*sequence);
  return std::make_unique<ChangeTokens>(std::move(data));
}

procedure::LockSet ChangeTokens::Locks() const {
  using procedure::ResourceKey;
  // As of a right, in a scope that no right has.
  return procedure::LockSet{
      procedure::Exclusive(ResourceKey::Region(std::string(kSystemNamespace) + ":rights", "%tokens"))};
}

Status ChangeTokens::CheckInitial() const {
  if (data_.has_issued()) {
    const auto token = ReadTokenRecord(data_.issued());
    return token.ok() ? Ok() : Status(IllegalRequest(token.error().message()));
  }
  const Status named = rights::CheckGrantee(data_.user());
  return named.ok() ? Ok() : Status(IllegalRequest(named.error().message()));
}

procedure::Description ChangeTokens::Describe() const {
  procedure::Description about;
  const auto issued = ReadTokenRecord(data_.issued());
  if (data_.has_issued()) return about.Add("user", issued.ok() ? issued->user : "").Note("issue");
  about.Add("user", data_.user());
  if (data_.has_sequence()) about.Add("token", fmt::format("{}", data_.sequence()));
  return about.Note("revoke");
}

// Selects the tokens that are revoked.
Status ChangeTokens::Select(const RightsBook& book, std::int64_t now_ms) {
  const std::size_t before = book.RevokedTokens()->size();
  bool found = false;
  for (const IssuedToken& token : book.Tokens()) {
    if (token.user != data_.user() || token.expires_ms < now_ms) continue;
    if (data_.has_sequence() && token.sequence != data_.sequence()) continue;
    found = true;
    if (token.revoked || data_.revoked() >= kMostAtOnce) continue;
    if (before + data_.revoked() >= rights::kMostRevokedTokens)
      return IllegalRequest(fmt::format("{} tokens are revoked, the most; withdraw the keys of all tokens instead",
                                        rights::kMostRevokedTokens));
    data_.add_changed(token.sequence);
    data_.set_revoked(data_.revoked() + 1);
  }
  if (!data_.has_sequence() || found) return Ok();
  return Error(Code::kNotFound,
               fmt::format("user {} has no token with the number {} that is alive", data_.user(), data_.sequence()),
               std::string(exception::kDoNotRetryIo));
}

StepOutcome ChangeTokens::Pre(StepContext& ctx) {
  const MasterEnv& env = EnvOf(ctx);
  data_.clear_changed();
  data_.clear_revoked();
  if (data_.has_issued()) {
    const auto token = ReadTokenRecord(data_.issued());
    if (!token.ok()) return Fail{IllegalRequest(token.error().message())};
    if (Status room = env.rights.RoomForToken(token->user); !room.ok())
      return Fail{IllegalRequest(room.error().message())};
  } else if (Status selected = Select(env.rights, env.clock.WallMillis()); !selected.ok()) {
    return Fail{selected.error()};
  }
  return GoTo<&ChangeTokens::Write>();
}

StepOutcome ChangeTokens::Write(StepContext& ctx) {
  const RightsBook& book = EnvOf(ctx).rights;
  if (auto token = ReadTokenRecord(data_.issued()); data_.has_issued() && token.ok()) {
    token->sequence = static_cast<std::int64_t>(ctx.pid().value());
    ctx.PutSystemRecord(TokenRecordKey(token->sequence), TokenRecord(*token));
    data_.clear_changed();
    data_.add_changed(token->sequence);
  } else {
    const std::set<std::int64_t> selected(data_.changed().begin(), data_.changed().end());
    for (IssuedToken& each : book.Tokens()) {
      if (!selected.contains(each.sequence)) continue;
      each.revoked = true;
      ctx.PutSystemRecord(TokenRecordKey(each.sequence), TokenRecord(each));
    }
  }
  for (const std::int64_t expired : book.ExpiredTokens(EnvOf(ctx).clock.WallMillis())) {
    if (std::find(data_.changed().begin(), data_.changed().end(), expired) != data_.changed().end()) continue;
    ctx.DeleteSystemRecord(TokenRecordKey(expired));
    data_.add_changed(expired);
  }
  return GoTo<&ChangeTokens::Tell>();
}

StepOutcome ChangeTokens::Tell(StepContext& ctx) {
  for (const std::int64_t sequence : data_.changed()) {
    const std::string key = TokenRecordKey(sequence);
    EnvOf(ctx).rights.ShowToken(key, EnvOf(ctx).executor->SystemRecord(key));
  }
  if (data_.has_issued() || RATCHET_MUTANT("master.revoke_at_the_master_only")) return GoTo<&ChangeTokens::Post>();
  std::vector<ProcedurePtr> orders = TellRights(ctx);
  data_.set_told(static_cast<std::uint32_t>(orders.size()));
  if (orders.empty()) return GoTo<&ChangeTokens::Post>();
  return SpawnThen<&ChangeTokens::Post>(std::move(orders));
}

StepOutcome ChangeTokens::Post(StepContext& ctx) {
  if (data_.has_issued()) {
    RATCHET_LOG(kInfo, "pid={} the token with this number is recorded", ctx.pid());
    return Done{};
  }
  RATCHET_LOG(kInfo, "pid={} {} tokens of user {} are revoked, and {} region servers know it", ctx.pid(),
              data_.revoked(), data_.user(), data_.told());
  return Done{fmt::format("{}", data_.revoked())};
}

}  // namespace ratchet::master
