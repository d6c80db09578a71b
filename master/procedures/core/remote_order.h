// RemoteOrder: one order to one region server, from its first sending to its settlement. Base of every order.
//
//   DISPATCH   sends and resends the order until the server has answered or is gone, then ends
//
// The result is a pb::OrderResult, which the parent reads. An order is resent with the same attempt number, also by the
// next master: the epoch distinguishes the two, and the server addresses its answer to the newest (S20: answers are
// repeated). The server remembers the order by its pid.
//
// P provides `MakeOrder(ctx)`, and redeclares what differs from the defaults below:
//
//   kOwnsRegion        the order moves a region. Only the server's answer, or its fence and the split of its logs,
//   settle
//                      it (S17: answer or fence settles an order). Other orders are abandoned when the server is no
//                      longer online, or by an operator (S47: orders without ownership).
//   kPointOfNoReturn   the kind of its row
//   kLane              the scheduling class of an order that is not about hbase:meta
//   kGood, kBad        the outcomes that an answer can have
//   kHasOldStates      records of earlier versions are stored in a state after DISPATCH
//   Target             the server
//   AboutMeta          the order recovers hbase:meta, and uses the class of hbase:meta
//   MovedRegion        encoded name of the region that the order moves; empty: none, or every region of the server
//   NeedsMeta          the order is made from what hbase:meta has
//   Patience           without an answer for this long the order is abandoned
//   Fill, Log          more fields of the result; log lines
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/env/orders.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

// Parses the answer of `server` to attempt `attempt` into `answer`. Returns why it is refused; nullopt if it is not.
[[nodiscard]] std::optional<procedure::Absorbed> ReadAnswer(std::string_view message, const std::string& server,
                                                            std::uint32_t attempt, pb::OrderAnswer& answer);
// kSettled: the order is settled without an answer. kAwait: the server is dead and its logs are not split. `region`: as
// in Membership::SettlementOf; called only if the server is dead, because the name is a hash.
[[nodiscard]] SettlementState StandingOf(StepContext& ctx, const std::string& server, bool owns_region,
                                         const std::function<std::string()>& region);
[[nodiscard]] procedure::WaitTicket SettlementTicket(StepContext& ctx, const std::string& server);
// Sends the order, and returns the outcome that waits for the answer, for `patience` if it is set.
[[nodiscard]] StepOutcome SendOrder(StepContext& ctx, const std::string& server, Order order,
                                    procedure::WaitTicket ticket, std::optional<Millis> patience);
[[nodiscard]] pb::OrderResult ResultOfAnswer(const pb::OrderAnswer& answer);
[[nodiscard]] pb::OrderResult ServerGone(const std::string& server);
// The result of an order that is abandoned because the server lives and has not answered.
[[nodiscard]] StepOutcome Abandon(StepContext& ctx, const std::string& server, Millis patience,
                                  const std::string& order);
[[nodiscard]] Status Unsettled(const std::string& server);

// For parents. Parses a child's result: without an outcome if an operator ended the child (no bytes), FAILED if the
// bytes are invalid.
[[nodiscard]] pb::OrderResult ReadOrderResult(std::string_view bytes);
// Returns the result of the single child of the last Spawn; without an outcome if an operator bypassed it.
[[nodiscard]] pb::OrderResult ResultOfOrder(StepContext& ctx);

template <class P, class Data>
class RemoteOrder : public MasterProcedure<P, Data>, public procedure::FromTheBeginning {
  using Base = MasterProcedure<P, Data>;

 public:
  using Base::Base;
  static constexpr ClaimKinds kClaims = kClaimsAnswer;
  static constexpr bool kOwnsRegion = false;
  static constexpr bool kPointOfNoReturn = false;
  static constexpr bool kHasOldStates = false;
  static constexpr auto kLane = procedure::Priority::kByLocks;
  static constexpr pb::OrderOutcome kGood = pb::DONE;
  static constexpr pb::OrderOutcome kBad = pb::FAILED;

  static constexpr auto Steps() {
    constexpr auto kUndo = P::kPointOfNoReturn ? Base::kNoReturn : Base::kNothingToUndo;
    constexpr auto kDispatch = Base::template On<&RemoteOrder::Dispatch>(1, "DISPATCH", kUndo, Base::kRunsOn,
                                                                         Given("the order is durable under its pid"));
    constexpr auto kOld = Given("an earlier version has stored this state: the order is settled");
    if constexpr (!P::kHasOldStates) {
      return std::array{kDispatch};
    } else {
      constexpr auto kSucceed = Base::template On<&RemoteOrder::End>(2, "REPORT_SUCCEED", kUndo, kOld);
      constexpr auto kCrash = Base::template On<&RemoteOrder::End>(4, "SERVER_CRASH", kUndo, kOld);
      if constexpr (P::kGood == P::kBad) {
        return std::array{kDispatch, kSucceed, kCrash};
      } else {
        constexpr auto kFail = Base::template On<&RemoteOrder::End>(3, "DISPATCH_FAIL", kUndo, kOld);
        return std::array{kDispatch, kSucceed, kFail, kCrash};
      }
    }
  }

  [[nodiscard]] procedure::Priority priority() const override {
    return self().AboutMeta() ? procedure::Priority::kMeta : P::kLane;
  }
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return this->data_.attempt(); }
  // A repeated answer is acknowledged, so that the reporter stops.
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override {
    pb::OrderAnswer answer;
    if (auto refused = ReadAnswer(message, self().Target(), this->data_.attempt(), answer)) return *std::move(refused);
    if (answer.more_size() > 0) return procedure::Absorbed::Stale("the order was about one region");
    if (!answer.encoded_region().empty() && !self().IsAbout(answer.encoded_region()))
      return procedure::Absorbed::Stale("the order was about another region");
    if (answer.outcome() != P::kGood && answer.outcome() != P::kBad)
      return procedure::Absorbed::Stale("not a valid answer to this kind of order");
    if (!Settled()) *this->data_.mutable_answer() = std::move(answer);
    return procedure::Absorbed::Taken();
  }
  // S17 (answer or fence settles an order): an order that ends without an answer leaves a server that may still execute
  // it, unknown to any master.
  [[nodiscard]] Status CheckBypass() const override {
    return !P::kOwnsRegion || Settled() ? Ok() : Unsettled(self().Target());
  }

  [[nodiscard]] Claims Uses() const {
    Claims claims;
    if (!Settled()) claims.awaited_server = self().Target();
    return claims;
  }

  // Defaults of P.
  [[nodiscard]] const std::string& Target() const { return this->data_.server(); }
  [[nodiscard]] bool AboutMeta() const { return false; }
  [[nodiscard]] std::string MovedRegion() const { return {}; }
  [[nodiscard]] bool NeedsMeta() const { return false; }
  [[nodiscard]] bool IsAbout(const std::string& /*encoded_region*/) const { return true; }
  [[nodiscard]] std::optional<Millis> Patience() const { return std::nullopt; }
  void Fill(pb::OrderResult& /*result*/) const {}
  void Log(StepContext& /*ctx*/, std::string_view /*event*/) const {}

 private:
  StepOutcome Dispatch(StepContext& ctx) {
    auto ticket = SettlementTicket(ctx, self().Target());  // taken before the check, and before the server can answer
    if (this->data_.has_answer()) {
      self().Log(ctx, "Received report");
      return End(ctx);
    }
    if (P::kOwnsRegion && self().NeedsMeta()) RATCHET_STEP(RequireMetaLoaded(ctx));
    const auto patience = self().Patience();
    if (patience && ctx.timed_out()) return Abandon(ctx, self().Target(), *patience, self().Describe().text());
    const SettlementState standing =
        StandingOf(ctx, self().Target(), P::kOwnsRegion, [this] { return self().MovedRegion(); });
    if (standing == SettlementState::kAwait) return Await{std::move(ticket), std::nullopt};
    const bool timed_out = P::kOwnsRegion && ctx.timed_out();
    if (standing == SettlementState::kSettled || (timed_out && RATCHET_MUTANT("master.settle_by_timeout")))
      return End(ctx);
    // An order whose server is gone has ended here, also before hbase:meta is loaded.
    if (!P::kOwnsRegion && self().NeedsMeta()) RATCHET_STEP(RequireMetaLoaded(ctx));
    // S18 (check before each send): the sender checks again before each send; this check keeps a deposed master's queue
    // empty.
    RATCHET_STEP(RequireOwner(ctx));
    auto order = self().MakeOrder(ctx);
    RATCHET_STEP(order.wait);
    if (!order.result->ok()) return Retry{order.result->error(), std::nullopt};
    self().Log(ctx, "Dispatch");
    auto message = std::move(*order.result).value();
    message.id = {ctx.pid(), this->data_.attempt()};
    return SendOrder(ctx, self().Target(), std::move(message), std::move(ticket), patience);
  }
  // The settlement and the end are one commit.
  StepOutcome End(StepContext& /*ctx*/) {
    if constexpr (kRecordsSettlement) this->data_.set_settled(true);
    auto result = this->data_.has_answer() ? ResultOfAnswer(this->data_.answer()) : ServerGone(self().Target());
    self().Fill(result);
    return Done{result.SerializeAsString()};
  }

  static constexpr bool kRecordsSettlement = requires(Data data) { data.set_settled(true); };
  [[nodiscard]] bool Settled() const {
    if constexpr (kRecordsSettlement) {
      if (this->data_.settled()) return true;
    }
    return this->data_.has_answer();
  }
  [[nodiscard]] const P& self() const { return static_cast<const P&>(*this); }
};

// An order that a step can make at once.
template <class AnyOrder>
[[nodiscard]] Acted<Result<AnyOrder>> Ready(AnyOrder order) {
  return {std::nullopt, Result<AnyOrder>(std::move(order))};
}

}  // namespace ratchet::master
