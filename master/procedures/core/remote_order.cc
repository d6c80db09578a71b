#include "master/procedures/core/remote_order.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/env/region_servers.h"
#include "master/procedures/core/master_options.h"

namespace ratchet::master {

using procedure::Absorbed;

std::optional<Absorbed> ReadAnswer(std::string_view message, const std::string& server, std::uint32_t attempt,
                                   pb::OrderAnswer& answer) {
  if (!answer.ParseFromArray(message.data(), static_cast<int>(message.size())))
    return Absorbed::Stale("unreadable answer");
  if (answer.server() != server) return Absorbed::Stale("the order went to " + server);
  if (answer.attempt() != attempt) return Absorbed::Stale(fmt::format("expected attempt {}", attempt));
  return std::nullopt;
}

SettlementState StandingOf(StepContext& ctx, const std::string& server, bool owns_region,
                           const std::function<std::string()>& region) {
  const Membership& servers = EnvOf(ctx).servers;
  const ServerName name = ServerFromData(server);
  if (servers.IsOnline(name)) return SettlementState::kServes;
  return owns_region ? servers.SettlementOf(name, region()) : SettlementState::kSettled;
}

procedure::WaitTicket SettlementTicket(StepContext& ctx, const std::string& server) {
  return ctx.TakeTicket(Membership::SettlementEvent(ServerFromData(server)));
}

StepOutcome SendOrder(StepContext& ctx, const std::string& server, Order order, procedure::WaitTicket ticket,
                      std::optional<Millis> patience) {
  MasterEnv& env = EnvOf(ctx);
  env.region_servers.Dispatch(ServerFromData(server), std::move(order));
  // The delay is in memory only, because the next master sends again anyway.
  return Await{std::move(ticket), patience.value_or(env.options.order_resend), /*in_memory=*/true};
}

pb::OrderResult ResultOfAnswer(const pb::OrderAnswer& answer) {
  pb::OrderResult result;
  result.set_outcome(answer.outcome());
  result.set_error_class(answer.error_class());
  result.set_error_message(answer.error_message());
  if (!answer.payload().empty()) result.set_payload(answer.payload());
  return result;
}

pb::OrderResult ServerGone(const std::string& server) {
  pb::OrderResult result;
  result.set_outcome(pb::SERVER_CRASHED);
  result.set_error_message(server + " is no longer online");
  return result;
}

StepOutcome Abandon(StepContext& ctx, const std::string& server, Millis patience, const std::string& order) {
  RATCHET_LOG(kInfo, "pid={} {} has not answered within {} ms; continuing without it: {}", ctx.pid(), server,
              patience.count(), order);
  pb::OrderResult result;
  result.set_outcome(pb::FAILED);
  result.set_error_message(fmt::format("{} has not answered within {} ms", server, patience.count()));
  return Done{result.SerializeAsString()};
}

Status Unsettled(const std::string& server) {
  return Error(Code::kFailedPrecondition,
               fmt::format("its order to {} is not settled: only that server's answer or its end settles it", server));
}

pb::OrderResult ReadOrderResult(std::string_view bytes) {
  pb::OrderResult result;
  if (result.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return result;
  result.Clear();
  result.set_outcome(pb::FAILED);
  result.set_error_message("the result of the child procedure cannot be read");
  return result;
}

pb::OrderResult ResultOfOrder(StepContext& ctx) {
  return ctx.children().size() == 1 ? ReadOrderResult(ctx.children().front().result) : pb::OrderResult();
}

}  // namespace ratchet::master
