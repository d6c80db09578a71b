#include "master/procedures/rights/replace_token_key.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/rights/token_keys.h"
#include "master/cluster/errors.h"
#include "master/cluster/rights_book.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// Mirrors the records as they are now.
void ShowKeys(StepContext& ctx, std::uint32_t up_to) {
  RightsBook& book = EnvOf(ctx).rights;
  const std::uint32_t from = up_to > rights::kMostTokenKeys ? up_to - rights::kMostTokenKeys : 0;
  const auto shown = book.TokenKeys();
  const auto show = [&](std::uint32_t id) {
    const std::string key = TokenKeyRecordKey(id);
    book.ShowTokenKey(key, EnvOf(ctx).executor->SystemRecord(key));
  };
  for (const rights::TokenKey& key : *shown) {
    if (key.id <= from) show(key.id);
  }
  for (std::uint32_t id = from + 1; id <= up_to; ++id) show(id);
}

}  // namespace

ProcedurePtr ReplaceTokenKey::Make(const TokenKeyOrder& order) {
  pb::ReplaceTokenKeyData data;
  data.set_secret(order.secret);
  if (order.withdraw) data.set_withdraw(true);
  data.set_made_ms(order.made_ms);
  data.set_expires_ms(order.expires_ms);
  data.set_unless_made_since_ms(order.unless_made_since_ms);
  return std::make_unique<ReplaceTokenKey>(std::move(data));
}

procedure::LockSet ReplaceTokenKey::Locks() const {
  using procedure::ResourceKey;
  // As of a right, in a scope that no right has.
  return procedure::LockSet{
      procedure::Exclusive(ResourceKey::Region(std::string(kSystemNamespace) + ":rights", "%token-keys"))};
}

Status ReplaceTokenKey::CheckInitial() const {
  if (data_.secret().size() == rights::kTokenKeyBytes && data_.expires_ms() > data_.made_ms()) return Ok();
  return IllegalRequest("a key of tokens needs 32 bytes and a time at which it ends");
}

procedure::Description ReplaceTokenKey::Describe() const {
  procedure::Description about;
  if (data_.has_key_id()) about.Add("key", fmt::format("{}", data_.key_id()));
  return data_.withdraw() ? about.Note("withdraws the earlier ones") : about;
}

StepOutcome ReplaceTokenKey::MakeKey(StepContext& ctx) {
  const RightsBook& book = EnvOf(ctx).rights;
  const auto keys = book.TokenKeys();
  const bool fresh = !keys->empty() && keys->back().told && keys->back().made_ms >= data_.unless_made_since_ms();
  if (fresh && !data_.withdraw()) {
    data_.clear_secret();
    return Done{};
  }
  const std::uint32_t last = book.LastTokenKeyId();
  const std::uint32_t id = data_.has_key_id() ? data_.key_id() : last + 1;
  data_.set_key_id(id);
  const std::int64_t now = EnvOf(ctx).clock.WallMillis();
  const std::size_t most = rights::kMostTokenKeys - 1;
  for (std::size_t at = 0; at < keys->size(); ++at) {
    const rights::TokenKey& old = (*keys)[at];
    const bool beyond = keys->size() - at > most;
    if (old.id != id && (data_.withdraw() || beyond || old.expires_ms < now))
      ctx.DeleteSystemRecord(TokenKeyRecordKey(old.id));
  }
  ctx.PutSystemRecord(TokenKeyRecordKey(id),
                      TokenKeyRecord({id, data_.secret(), data_.made_ms(), data_.expires_ms(), false}));
  return GoTo<&ReplaceTokenKey::Tell>();
}

StepOutcome ReplaceTokenKey::Tell(StepContext& ctx) {
  ShowKeys(ctx, data_.key_id());
  data_.clear_secret();
  std::vector<ProcedurePtr> orders = TellRights(ctx);
  data_.set_told(static_cast<std::uint32_t>(orders.size()));
  if (orders.empty()) return GoTo<&ReplaceTokenKey::UseKey>();
  return SpawnThen<&ReplaceTokenKey::UseKey>(std::move(orders));
}

StepOutcome ReplaceTokenKey::UseKey(StepContext& ctx) {
  const auto keys = EnvOf(ctx).rights.TokenKeys();
  const auto found =
      std::find_if(keys->begin(), keys->end(), [&](const auto& key) { return key.id == data_.key_id(); });
  if (found != keys->end()) {
    rights::TokenKey known = *found;
    known.told = true;
    ctx.PutSystemRecord(TokenKeyRecordKey(known.id), TokenKeyRecord(known));
  }
  return GoTo<&ReplaceTokenKey::Post>();
}

StepOutcome ReplaceTokenKey::Post(StepContext& ctx) {
  ShowKeys(ctx, data_.key_id());
  RATCHET_LOG(kInfo, "pid={} key {} of tokens is known to {} region servers{}", ctx.pid(), data_.key_id(), data_.told(),
              data_.withdraw() ? "; the earlier keys are withdrawn" : "");
  return Done{fmt::format("{}", data_.key_id())};
}

}  // namespace ratchet::master
