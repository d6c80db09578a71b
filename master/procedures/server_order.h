// What orders to a server have in common that neither give nor take a region (S47): to split a log, to flush, to build
// regions. Remembered by the server by their own pid; settled by an answer, or abandoned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "master/procedures/common.h"

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
// For the parent.
[[nodiscard]] std::string ServerOrderResult(const pb::OrderAnswer& answer);
[[nodiscard]] std::string ServerGoneResult(const std::string& server);
// The result of the one child that the last Spawn gave; without an outcome when an operator bypassed it.
[[nodiscard]] pb::OrderResult ResultOfOrder(StepContext& ctx);

}  // namespace ratchet::master
