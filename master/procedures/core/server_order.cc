#include "master/procedures/core/server_order.h"

#include <utility>

#include <fmt/format.h>

namespace ratchet::master {

using procedure::Absorbed;

Absorbed AbsorbServerAnswer(std::string_view message, const std::string& server, std::uint32_t attempt,
                            std::optional<pb::OrderAnswer>& answer) {
  pb::OrderAnswer read;
  if (!read.ParseFromArray(message.data(), static_cast<int>(message.size())))
    return Absorbed::Stale("unreadable answer");
  if (read.server() != server) return Absorbed::Stale("the order went to " + server);
  if (read.attempt() != attempt) return Absorbed::Stale(fmt::format("expected attempt {}", attempt));
  if (read.outcome() != pb::DONE && read.outcome() != pb::FAILED)
    return Absorbed::Stale("not a valid answer to this kind of order");
  answer = std::move(read);
  return Absorbed::Taken();
}

std::string ServerOrderResult(const pb::OrderAnswer& answer) {
  pb::OrderResult result;
  result.set_outcome(answer.outcome());
  result.set_error_class(answer.error_class());
  result.set_error_message(answer.error_message());
  if (!answer.payload().empty()) result.set_payload(answer.payload());
  return result.SerializeAsString();
}

std::string ServerGoneResult(const std::string& server) {
  pb::OrderResult result;
  result.set_outcome(pb::SERVER_CRASHED);
  result.set_error_message(server + " is no longer online");
  return result.SerializeAsString();
}

std::string UnansweredResult(const std::string& server, std::uint32_t patience_ms) {
  pb::OrderResult result;
  result.set_outcome(pb::FAILED);
  result.set_error_message(fmt::format("{} has not answered within {} ms", server, patience_ms));
  return result.SerializeAsString();
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
