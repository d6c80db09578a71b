// MasterService and RatchetService: balancing: HBase's Balance, and the plan with its gain for `ratchet balance
// --dry-run`.
#include <algorithm>

#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/cluster/switches.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

constexpr std::size_t kMostTold = 10'000;

// Answers when the moves are durable. `dry_run` also plans while the switch is off, as in HBase.
void BalanceNow(const ActiveParts& parts, const rpc::CallContext& call, const hbase::pb::BalanceRequest& request,
                const rpc::Responder<hbase::pb::BalanceResponse>& responder) {
  if (!request.dry_run() && !parts.logic->switches.IsOn(Switch::kBalancer)) {
    hbase::pb::BalanceResponse off;
    off.set_balancer_ran(false);
    return ReplyChecked(parts, responder, off);
  }
  parts.logic->balancer.Balance({request.dry_run(), request.ignore_rit(), false, ContextOf(call)},
                                [parts, responder](const Result<Balancer::Outcome>& outcome) {
                                  if (!outcome.ok()) return FailChecked(parts, responder, outcome.error());
                                  hbase::pb::BalanceResponse response;
                                  response.set_balancer_ran(outcome->put_off.empty());
                                  response.set_moves_calculated(static_cast<std::uint32_t>(outcome->planned));
                                  response.set_moves_executed(static_cast<std::uint32_t>(outcome->begun));
                                  if (!outcome->put_off.empty()) response.set_put_off(outcome->put_off);
                                  for (const std::string& what : outcome->left_out) response.add_left_out(what);
                                  ReplyChecked(parts, responder, response);
                                });
}

void Put(const BalanceCost& cost, rpb::BalanceCosts& costs) {
  costs.set_regions(cost.regions);
  costs.set_table_skew(cost.table_skew);
  costs.set_requests(cost.requests);
  costs.set_bytes(cost.bytes);
  costs.set_moves(cost.moves);
  costs.set_total(cost.total);
}

rpb::PlanBalanceResponse ToResponse(const Balancer::Outcome& outcome, bool stochastic, std::size_t most) {
  rpb::PlanBalanceResponse response;
  for (const std::string& what : outcome.left_out) response.add_left_out(what);
  if (!outcome.put_off.empty()) {
    response.set_put_off(outcome.put_off);
    return response;
  }
  response.set_balancer(stochastic ? "stochastic" : "simple");
  response.set_moves_planned(outcome.planned);
  for (const BalanceMove& move : outcome.moves) {
    if (static_cast<std::size_t>(response.move_size()) >= std::min(most, kMostTold)) break;
    rpb::PlannedMove& told = *response.add_move();
    told.set_encoded_name(move.encoded);
    told.set_table(move.table);
    ToProto(move.from, *told.mutable_source());
    ToProto(move.to, *told.mutable_destination());
  }
  Put(outcome.before, *response.mutable_before());
  Put(outcome.after, *response.mutable_after());
  return response;
}

void PlanIt(const ActiveParts& parts, const rpc::CallContext& call, const rpb::PlanBalanceRequest& request,
            const rpc::Responder<rpb::PlanBalanceResponse>& responder) {
  const bool stochastic = !parts.logic->env.options.balancer.counts();
  parts.logic->balancer.Balance(
      {/*dry_run=*/true, false, false, ContextOf(call)},
      [parts, responder, stochastic, most = request.most_moves()](const Result<Balancer::Outcome>& outcome) {
        if (!outcome.ok()) return FailChecked(parts, responder, outcome.error());
        ReplyChecked(parts, responder, ToResponse(*outcome, stochastic, most));
      });
}

}  // namespace

void AddBalanceMethod(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kBalance, BalanceNow);
}

void AddPlanMethod(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kPlanBalance, PlanIt);
}

}  // namespace ratchet::master
