// Shared by orders that do not move a region (S47: orders without ownership): to split a log, to flush, to build
// regions. The server remembers them by their own pid; an answer settles them, or they are abandoned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "master/cluster/membership.h"
#include "master/env/region_servers.h"
#include "master/procedures/core/common.h"
#include "master/procedures/core/master_options.h"

namespace ratchet::master {

// Parses the answer of `server` to attempt `attempt` into `answer`. The caller keeps only the first answer.
[[nodiscard]] procedure::Absorbed AbsorbServerAnswer(std::string_view message, const std::string& server,
                                                     std::uint32_t attempt, std::optional<pb::OrderAnswer>& answer);
// Calls AbsorbServerAnswer and stores the first answer in `data`.
template <class Data>
[[nodiscard]] procedure::Absorbed AbsorbInto(Data& data, std::string_view message, const std::string& server) {
  std::optional<pb::OrderAnswer> answer;
  auto absorbed = AbsorbServerAnswer(message, server, data.attempt(), answer);
  if (answer && !data.has_answer()) *data.mutable_answer() = std::move(*answer);
  return absorbed;
}
// The whole step of such an order: ends if the answer has arrived or the server is gone; otherwise sends the order and
// awaits the answer. `order` is complete except for its id.
template <class Data, class AnyOrder>
[[nodiscard]] StepOutcome DispatchToServer(StepContext& ctx, const Data& data, AnyOrder order);
// Serialized results for the parent.
[[nodiscard]] std::string ServerOrderResult(const pb::OrderAnswer& answer);
[[nodiscard]] std::string ServerGoneResult(const std::string& server);
// Result of an order that is abandoned because the server lives and has not answered for `patience_ms` (S47).
[[nodiscard]] std::string UnansweredResult(const std::string& server, std::uint32_t patience_ms);
// Parses a child's result: without an outcome if an operator ended the child (no bytes), FAILED if the bytes are
// invalid.
[[nodiscard]] pb::OrderResult ReadOrderResult(std::string_view bytes);
// Returns the result of the single child of the last Spawn; without an outcome if an operator bypassed it.
[[nodiscard]] pb::OrderResult ResultOfOrder(StepContext& ctx);

template <class Data, class AnyOrder>
StepOutcome DispatchToServer(StepContext& ctx, const Data& data, AnyOrder order) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data.server());
  auto ticket = ctx.TakeTicket(Membership::SettlementEvent(server));
  if (data.has_answer()) return Done{ServerOrderResult(data.answer())};
  if (!env.servers.IsOnline(server)) return Done{ServerGoneResult(data.server())};
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  order.id = {ctx.pid(), data.attempt()};
  env.region_servers.Dispatch(server, std::move(order));
  return Await{std::move(ticket), env.options.order_resend};
}

}  // namespace ratchet::master
