// Drains region servers and takes them back; the balancer.
#include <fmt/format.h>

#include "common/base/host_port.h"
#include "common/client/drain.h"
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/master_switches.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

// Finds a live server, or a marked address: "host:port", or the full name.
Result<ServerName> FindMarked(client::Admin& admin, const std::string& text) {
  if (text.find(',') != std::string::npos) return ServerName::Parse(text);
  RATCHET_ASSIGN(const auto marked, client::Drained(admin));
  const auto address = SplitHostPort(text);
  for (const ServerName& server : marked) {
    if (address == HostPort{server.host, server.port}) return server;
  }
  return FindServer(admin, text);
}

}  // namespace

int DrainServer(Session& session, const std::string& server, bool and_stop, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  const auto found = FindServer(admin, server);
  if (!found.ok()) return Report(session, found.error());
  return FinishAlone(session, admin, client::Drain(admin, *found, and_stop), "drained", found->ToString(), wait);
}

int UndrainServer(Session& session, const std::string& server, const std::vector<std::string>& regions, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  const auto found = FindMarked(admin, server);
  if (!found.ok()) return Report(session, found.error());
  std::vector<std::string> encoded;
  for (const std::string& region : regions) {
    auto name = FindRegion(admin, region);
    if (!name.ok()) return Report(session, name.error());
    encoded.push_back(*std::move(name));
  }
  return FinishAlone(session, admin, client::Undrain(admin, *found, encoded), "taken_back", found->ToString(), wait);
}

int ShowDrained(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  const auto marked = client::Drained(admin);
  if (!marked.ok()) return Report(session, marked.error());
  const auto all = admin.Call(methods::kListServers, {});
  if (!all.ok()) return Report(session, all.error());
  std::vector<std::vector<Field>> rows;
  for (const ServerName& server : *marked) {
    std::string state = "not there";
    std::int64_t regions = 0;
    for (const auto& row : all->server()) {
      const auto name = FromProto(row.server());
      if (!name.ok() || *name != server) continue;
      state = row.state();
      regions = row.regions();
    }
    rows.push_back({server.ToString(), state, regions});
  }
  session.printer.Table({"SERVER", "STATE", "REGIONS"}, rows);
  return kExitOk;
}

namespace {

// Empty: there are none.
template <class Texts>
Field LeftOut(const Texts& texts) {
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : "; ") + one;
  return text.empty() ? Field() : Field(text);
}

int ShowPlan(Session& session, client::Admin& admin) {
  const auto plan = admin.Call(methods::kPlanBalance, {});
  if (!plan.ok()) return Report(session, plan.error());
  if (plan->has_put_off())
    return Report(session, Error(Code::kFailedPrecondition, "there is no plan at this time: " + plan->put_off()));
  std::vector<std::vector<Field>> moves;
  for (const auto& move : plan->move()) {
    const auto from = FromProto(move.source());
    const auto to = FromProto(move.destination());
    moves.push_back(
        {move.table(), move.encoded_name(), from.ok() ? from->ToString() : "?", to.ok() ? to->ToString() : "?"});
  }
  const auto cost = [](const char* name, double before, double after) {
    return std::vector<Field>{std::string(name), before, after, before - after};
  };
  const auto& before = plan->before();
  const auto& after = plan->after();
  session.printer.Document(
      {{"balancer", plan->balancer()},
       {"moves_planned", Number(plan->moves_planned())},
       {"moves_begun", std::int64_t{0}},
       {"left_out", LeftOut(plan->left_out())}},
      {{"cost",
        "",
        {"PART", "BEFORE", "AFTER", "GAIN"},
        {cost("total", before.total(), after.total()), cost("regions", before.regions(), after.regions()),
         cost("tables", before.table_skew(), after.table_skew()), cost("requests", before.requests(), after.requests()),
         cost("bytes", before.bytes(), after.bytes()), cost("moves", before.moves(), after.moves())}},
       {"moves", "", {"TABLE", "REGION", "FROM", "TO"}, std::move(moves)}});
  return kExitOk;
}

}  // namespace

int Balance(Session& session, bool dry_run) {
  client::Admin admin(session.connection, session.timeout);
  if (dry_run) return ShowPlan(session, admin);
  const auto answer = admin.Call(methods::kBalance, {});
  if (!answer.ok()) return Report(session, answer.error());
  if (!answer->balancer_ran()) {
    const std::string why = answer->has_put_off() ? answer->put_off() + " (ratchet why)"
                                                  : "the balancer is switched off (ratchet balancer)";
    return Report(session, Error(Code::kFailedPrecondition, "nothing was moved: " + why));
  }
  session.printer.Object({{"moves_planned", static_cast<std::int64_t>(answer->moves_calculated())},
                          {"moves_begun", static_cast<std::int64_t>(answer->moves_executed())},
                          {"left_out", LeftOut(answer->left_out())}});
  return kExitOk;
}

int SwitchBalancer(Session& session, const std::string& to) {
  client::Admin admin(session.connection, session.timeout);
  if (!to.empty()) {
    hbase::pb::SetBalancerRunningRequest request;
    request.set_on(to == "on");
    request.set_synchronous(true);
    if (const auto set = admin.Call(methods::kSetBalancerRunning, request); !set.ok())
      return Report(session, set.error());
  }
  const auto shown = admin.Call(methods::kIsBalancerEnabled, {});
  if (!shown.ok()) return Report(session, shown.error());
  session.printer.Object({{"balancer", std::string(shown->enabled() ? "on" : "off")}});
  return kExitOk;
}

}  // namespace ratchet::cli
