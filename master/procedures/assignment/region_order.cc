#include "master/procedures/assignment/region_order.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/env/region_servers.h"
#include "master/procedures/core/master_options.h"

namespace ratchet::master {

using procedure::Absorbed;

Absorbed AbsorbAnswer(pb::RegionOrderData& data, std::string_view message, pb::OrderOutcome good,
                      pb::OrderOutcome bad) {
  pb::OrderAnswer answer;
  if (!answer.ParseFromArray(message.data(), static_cast<int>(message.size())))
    return Absorbed::Stale("unreadable answer");
  if (answer.server() != data.server()) return Absorbed::Stale("the order went to " + data.server());
  if (answer.attempt() != data.attempt()) return Absorbed::Stale(fmt::format("expected attempt {}", data.attempt()));
  if (!answer.encoded_region().empty() && answer.encoded_region() != FromData(data.region()).encoded_name()) {
    return Absorbed::Stale("the order was about another region");
  }
  if (answer.outcome() != good && answer.outcome() != bad)
    return Absorbed::Stale("not a valid answer to this kind of order");
  // a repeated answer: acknowledged, so that the reporter stops
  if (data.settled() || data.has_answer()) return Absorbed::Taken();
  *data.mutable_answer() = std::move(answer);
  return Absorbed::Taken();
}

procedure::WaitTicket SettlementTicket(StepContext& ctx, const pb::RegionOrderData& data) {
  return ctx.TakeTicket(Membership::SettlementEvent(ServerFromData(data.server())));
}

DispatchVerdict JudgeDispatch(StepContext& ctx, const pb::RegionOrderData& data) {
  if (data.has_answer()) {
    // Chooses by outcome: FAILED_OPEN is an answer too, and keeps its meaning after a failover.
    switch (data.answer().outcome()) {
      case pb::OPENED:
      case pb::CLOSED: return DispatchVerdict::kAnswered;
      default: return DispatchVerdict::kRefused;
    }
  }
  switch (EnvOf(ctx).servers.SettlementOf(ServerFromData(data.server()), FromData(data.region()).IsMeta())) {
    case SettlementState::kServes: return DispatchVerdict::kSend;
    case SettlementState::kAwait: return DispatchVerdict::kStay;
    case SettlementState::kSettled: return DispatchVerdict::kServerGone;
  }
  return DispatchVerdict::kStay;
}

Status CheckSettled(const pb::RegionOrderData& data) {
  if (data.settled() || data.has_answer()) return Ok();
  return Error(
      Code::kFailedPrecondition,
      fmt::format("its order to {} is not settled: only that server's answer or its end settles it", data.server()));
}

procedure::Description DescribeOrder(const pb::RegionOrderData& data) {
  const RegionInfo region = FromData(data.region());
  return procedure::Description()
      .Add("table", region.table.ToString())
      .Add("region", region.encoded_name())
      .Add("server", data.server());
}

std::string ResultOf(const pb::RegionOrderData& data, ProcId pid) {
  pb::OrderResult result;
  result.set_outcome(data.answer().outcome());
  result.set_open_sequence(data.answer().open_sequence());
  result.set_open_order(pid.value());
  // A server of an earlier version reports no descriptor; it opened with the one that every send of this order carried.
  const std::uint64_t descriptor =
      data.answer().has_schema_number() ? data.answer().schema_number() : data.schema_number();
  if (descriptor != 0) result.set_schema_number(descriptor);
  if (data.answer().has_open_number()) result.set_open_number(data.answer().open_number());
  if (data.answer().has_flushed()) result.set_flushed(data.answer().flushed());
  result.set_error_class(data.answer().error_class());
  result.set_error_message(data.answer().error_message());
  return result.SerializeAsString();
}

std::string CrashedResult() {
  pb::OrderResult result;
  result.set_outcome(pb::SERVER_CRASHED);
  return result.SerializeAsString();
}

void LogOrder(StepContext& ctx, std::string_view event, std::string_view type, const pb::RegionOrderData& data) {
  if (!LogEnabled(LogLevel::kInfo)) return;
  const auto node = EnvOf(ctx).regions.Get(FromData(data.region()).encoded_name());
  const std::string report = data.has_answer() ? fmt::format(" {} seqId={},", OutcomeText(data.answer().outcome()),
                                                             data.answer().open_sequence())
                                               : "";
  RATCHET_LOG(kInfo, "{}{} pid={}, ppid={}, state=RUNNABLE:DISPATCH; {} {}; rit={}, location={}", event, report,
              ctx.pid(), ctx.parent(), type, DescribeOrder(data).text(), node ? RegionStateText(node->state) : "?",
              node && node->location ? node->location->ToString() : "null");
}

void SendOrder(StepContext& ctx, const std::string& server, Order order) {
  EnvOf(ctx).region_servers.Dispatch(ServerFromData(server), std::move(order));
}

StepOutcome AfterSending(StepContext& ctx, procedure::WaitTicket ticket) {
  // The delay is in memory only, because the next master sends again anyway.
  return Await{std::move(ticket), EnvOf(ctx).options.order_resend, /*in_memory=*/true};
}

}  // namespace ratchet::master
