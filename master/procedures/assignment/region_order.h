// RegionOrder: one order about one region to one server, from its first sending to its settlement. Base of OpenRegion
// and CloseRegion.
//
//   DISPATCH        sends and resends until the addressee has answered, or is fenced and its logs are split (S17:
//                   answer or fence settles an order); then the order ends
//   REPORT_SUCCEED  the addressee has executed the order
//   DISPATCH_FAIL   the addressee has refused the order (FAILED_OPEN)
//   SERVER_CRASH    the addressee is dead and will never answer
//
// DISPATCH calls the other three: they act on nothing, so the settlement and the end are one commit. Only records of
// earlier versions are stored in these states.
//
// The result is a pb::OrderResult, which the parent reads. The pid is both the order's number and the open number (S21:
// numbered openings): pids rise over the whole life of a cluster, and orders about a region are given one after the
// other. An order is resent with the same attempt number, also by the next master: the epoch distinguishes the two, and
// the server addresses its answer to the newest (S20: answers are repeated).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/mutant.h"
#include "master/env/orders.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

// Merges a server's answer into an order's data. `good` and `bad`: the outcomes that this kind of order can have.
[[nodiscard]] procedure::Absorbed AbsorbAnswer(pb::RegionOrderData& data, std::string_view message,
                                               pb::OrderOutcome good, pb::OrderOutcome bad);
// Next action of DISPATCH. kStay: wait until the server's standing changes.
enum class DispatchVerdict : std::uint8_t { kSend, kAnswered, kRefused, kServerGone, kStay };
[[nodiscard]] DispatchVerdict JudgeDispatch(StepContext& ctx, const pb::RegionOrderData& data);
[[nodiscard]] Status CheckSettled(const pb::RegionOrderData& data);
[[nodiscard]] std::string DescribeOrder(const pb::RegionOrderData& data);
[[nodiscard]] std::string ResultOf(const pb::RegionOrderData& data, ProcId pid);
void LogOrder(StepContext& ctx, std::string_view event, std::string_view type, const pb::RegionOrderData& data);
void SendOrder(StepContext& ctx, const std::string& server, Order order);
[[nodiscard]] std::string CrashedResult();
[[nodiscard]] StepOutcome AfterSending(StepContext& ctx, procedure::WaitTicket ticket);
[[nodiscard]] procedure::WaitTicket SettlementTicket(StepContext& ctx, const pb::RegionOrderData& data);

template <class P>
class RegionOrder : public MasterProcedure<P, pb::RegionOrderData>, public procedure::FromTheBeginning {
  using Base = MasterProcedure<P, pb::RegionOrderData>;

 public:
  using Base::Base;
  static constexpr auto Steps() {
    constexpr auto kSend = Base::template On<&P::Dispatch>(1, "DISPATCH", Base::kNoReturn);
    constexpr auto kDone = Base::template On<&P::ReportSucceed>(2, "REPORT_SUCCEED", Base::kNoReturn);
    constexpr auto kDead = Base::template On<&P::ServerCrashed>(4, "SERVER_CRASH", Base::kNoReturn);
    if constexpr (P::kCanRefuse) {
      return std::array{kSend, kDone, Base::template On<&P::DispatchFail>(3, "DISPATCH_FAIL", Base::kNoReturn), kDead};
    } else {
      return std::array{kSend, kDone, kDead};
    }
  }

  [[nodiscard]] procedure::Priority priority() const override {
    const bool meta = FromData(this->data_.region()).IsMeta();
    return meta ? procedure::Priority::kMeta : procedure::Priority::kByLocks;
  }
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override {
    return AbsorbAnswer(this->data_, message, P::kGood, P::kBad);
  }
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return this->data_.attempt(); }
  // S17 (answer or fence settles an order): an order that ends without an answer leaves a server that may still execute
  // it, unknown to any master.
  [[nodiscard]] Status CheckBypass() const override { return CheckSettled(this->data_); }
  [[nodiscard]] std::string Describe() const override { return DescribeOrder(this->data_); }

 protected:
  StepOutcome Dispatch(StepContext& ctx) {
    auto ticket = SettlementTicket(ctx, this->data_);  // taken before the check, and before the server can answer
    const bool meta = FromData(this->data_.region()).IsMeta();
    if (!meta && !this->data_.has_answer()) {
      RATCHET_STEP(RequireMetaLoaded(ctx));  // schema and directory are known only then
    }
    switch (JudgeDispatch(ctx, this->data_)) {
      case DispatchVerdict::kAnswered: return Settled(ctx), ReportSucceed(ctx);
      case DispatchVerdict::kRefused: return Settled(ctx), DispatchFail(ctx);
      case DispatchVerdict::kServerGone: return Settled(ctx), ServerCrashed(ctx);
      case DispatchVerdict::kStay: return Await{std::move(ticket), std::nullopt};
      case DispatchVerdict::kSend: break;
    }
    if (ctx.timed_out() && RATCHET_MUTANT("master.settle_by_timeout")) return Settled(ctx), ServerCrashed(ctx);
    // S18 (check before each send): the sender checks again before each send; this check keeps a deposed master's queue
    // empty.
    if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
    // S93 (transition without a row ends): the close order that the parent gives next settles the effect of an earlier
    // send.
    if constexpr (P::kNeedsTable) {
      if (!HasTable(EnvOf(ctx), FromData(this->data_.region()))) return Done{};
    }
    auto order = static_cast<P*>(this)->MakeOrder(ctx);
    RATCHET_STEP(order.wait);
    if (!order.result->ok()) return Retry{order.result->error(), std::nullopt};
    LogOrder(ctx, "Dispatch", P::kTypeName, this->data_);
    SendOrder(ctx, this->data_.server(), std::move(*order.result).value());
    return AfterSending(ctx, std::move(ticket));
  }
  StepOutcome ReportSucceed(StepContext& ctx) { return Done{ResultOf(this->data_, ctx.pid())}; }
  StepOutcome DispatchFail(StepContext& ctx) { return Done{ResultOf(this->data_, ctx.pid())}; }
  StepOutcome ServerCrashed(StepContext&) { return Done{CrashedResult()}; }

 private:
  void Settled(StepContext& ctx) {
    if (this->data_.has_answer()) LogOrder(ctx, "Received report", P::kTypeName, this->data_);
    this->data_.set_settled(true);
  }
};

}  // namespace ratchet::master
