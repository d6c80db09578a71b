// What orders to a server have in common that neither give nor take a region (S47): to split a log, to flush, to build
// regions. Remembered by the server by their own pid; settled by an answer, or abandoned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "master/env/region_servers.h"
#include "master/procedures/common.h"
#include "master/state/master_options.h"
#include "master/state/server_directory.h"

namespace ratchet::master {

// Folds the answer of `server` to attempt `attempt` in. `take` keeps the first one; later ones change nothing.
[[nodiscard]] procedure::Absorbed AbsorbServerAnswer(std::string_view message, const std::string& server,
                                                     std::uint32_t attempt, std::optional<pb::OrderAnswer>& answer);
// The same for data that keep the first answer beside the attempt.
template <class Data>
[[nodiscard]] procedure::Absorbed AbsorbInto(Data& data, std::string_view message, const std::string& server) {
  std::optional<pb::OrderAnswer> answer;
  auto absorbed = AbsorbServerAnswer(message, server, data.attempt(), answer);
  if (answer && !data.has_answer()) *data.mutable_answer() = std::move(*answer);
  return absorbed;
}
// The whole step of such an order: its end with the answer or with the server's, or the order sent and its answer
// awaited. `order` is filled but for its id.
template <class Data, class AnyOrder>
[[nodiscard]] StepOutcome DispatchToServer(StepContext& ctx, const Data& data, AnyOrder order);
// For the parent.
[[nodiscard]] std::string ServerOrderResult(const pb::OrderAnswer& answer);
[[nodiscard]] std::string ServerGoneResult(const std::string& server);
// The result of the one child that the last Spawn gave; without an outcome when an operator bypassed it.
[[nodiscard]] pb::OrderResult ResultOfOrder(StepContext& ctx);

template <class Data, class AnyOrder>
StepOutcome DispatchToServer(StepContext& ctx, const Data& data, AnyOrder order) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data.server());
  auto ticket = ctx.TakeTicket(ServerDirectory::StandingEvent(server));
  if (data.has_answer()) return Done{ServerOrderResult(data.answer())};
  if (!env.servers.IsOnline(server)) return Done{ServerGoneResult(data.server())};
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  order.id = {ctx.pid(), data.attempt()};
  env.region_servers.Dispatch(server, std::move(order));
  return Await{std::move(ticket), env.options.order_resend};
}

}  // namespace ratchet::master
