// Verbs on region servers, and the balancer.
#include <fmt/format.h>

#include "common/base/host_port.h"
#include "common/client/drain.h"
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

void AddServer(CLI::App& verb, std::string& into) {
  Need(verb, "server", into, kind::kServer, "host:port, or host,port,startcode");
}

void AddNoWaitForServer(CLI::App& verb, bool& wait) {
  verb.add_flag("!--no-wait", wait, "Return when the procedure is durable");
}

struct DrainFlags {
  std::string server;
  bool and_stop = false;  // the server stops when no region is left
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddServer(verb, server);
    verb.add_flag("--and-stop", and_stop, "Then stop the server, and wait until it has ended");
    AddNoWaitForServer(verb, wait);
  }
};

Result<int> DrainServer(Session& session, const DrainFlags& flags) {
  RATCHET_ASSIGN(const auto found, FindServer(session.admin, flags.server));
  return FinishAlone(session, client::Drain(session.admin, found, flags.and_stop), "drained", found.ToString(),
                     flags.wait);
}

struct UndrainFlags {
  std::string server;
  std::vector<std::string> regions;  // encoded names, or the beginnings of them; they are moved to the server
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddServer(verb, server);
    Take(verb, "regions", regions, kind::kRegion, "Encoded names, or beginnings of them");
    AddNoWaitForServer(verb, wait);
  }
};

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

Result<int> UndrainServer(Session& session, const UndrainFlags& flags) {
  RATCHET_ASSIGN(const auto found, FindMarked(session.admin, flags.server));
  std::vector<std::string> encoded;
  for (const std::string& region : flags.regions) {
    RATCHET_ASSIGN(auto name, FindRegion(session.admin, region));
    encoded.push_back(std::move(name));
  }
  return FinishAlone(session, client::Undrain(session.admin, found, encoded), "taken_back", found.ToString(),
                     flags.wait);
}

}  // namespace

Result<int> ShowDrained(Session& session) {
  RATCHET_ASSIGN(const auto marked, client::Drained(session.admin));
  RATCHET_ASSIGN(const auto all, (session.admin.Call(methods::kListServers, {})));
  std::vector<std::vector<Field>> rows;
  for (const ServerName& server : marked) {
    std::string state = "not there";
    std::int64_t regions = 0;
    for (const auto& row : all.server()) {
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

struct BalanceFlags {
  bool dry_run = false;

  void Bind(CLI::App& verb) {
    verb.add_flag("--dry-run", dry_run, "Only show which regions would be moved, and the gain");
  }
};

// Empty: there are none.
template <class Texts>
Field LeftOut(const Texts& texts) {
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : "; ") + one;
  return text.empty() ? Field() : Field(text);
}

Result<int> ShowPlan(Session& session) {
  RATCHET_ASSIGN(const auto plan, (session.admin.Call(methods::kPlanBalance, {})));
  if (plan.has_put_off()) return Error(Code::kFailedPrecondition, "there is no plan at this time: " + plan.put_off());
  std::vector<std::vector<Field>> moves;
  for (const auto& move : plan.move()) {
    const auto from = FromProto(move.source());
    const auto to = FromProto(move.destination());
    moves.push_back(
        {move.table(), move.encoded_name(), from.ok() ? from->ToString() : "?", to.ok() ? to->ToString() : "?"});
  }
  const auto cost = [](const char* name, double before, double after) {
    return std::vector<Field>{std::string(name), before, after, before - after};
  };
  const auto& before = plan.before();
  const auto& after = plan.after();
  session.printer.Document(
      {{"balancer", plan.balancer()},
       {"moves_planned", Number(plan.moves_planned())},
       {"moves_begun", std::int64_t{0}},
       {"left_out", LeftOut(plan.left_out())}},
      {{"cost",
        "",
        {"PART", "BEFORE", "AFTER", "GAIN"},
        {cost("total", before.total(), after.total()), cost("regions", before.regions(), after.regions()),
         cost("tables", before.table_skew(), after.table_skew()), cost("requests", before.requests(), after.requests()),
         cost("bytes", before.bytes(), after.bytes()), cost("moves", before.moves(), after.moves())}},
       {"moves", "", {"TABLE", "REGION", "FROM", "TO"}, std::move(moves)}});
  return kExitOk;
}

// Moves regions so that each server has its share; a dry run only prints how many regions would move.
Result<int> Balance(Session& session, const BalanceFlags& flags) {
  if (flags.dry_run) return ShowPlan(session);
  RATCHET_ASSIGN(const auto answer, (session.admin.Call(methods::kBalance, {})));
  if (!answer.balancer_ran()) {
    const std::string why =
        answer.has_put_off() ? answer.put_off() + " (ratchet why)" : "the balancer is switched off (ratchet balancer)";
    return Error(Code::kFailedPrecondition, "nothing was moved: " + why);
  }
  session.printer.Object({{"moves_planned", static_cast<std::int64_t>(answer.moves_calculated())},
                          {"moves_begun", static_cast<std::int64_t>(answer.moves_executed())},
                          {"left_out", LeftOut(answer.left_out())}});
  return kExitOk;
}

struct BalancerFlags {
  std::string to;  // "on", "off", or empty: only shows the state

  void Bind(CLI::App& verb) { Take(verb, "to", to, "on|off", "on or off")->check(CLI::IsMember({"on", "off"})); }
};

Result<int> SwitchBalancer(Session& session, const BalancerFlags& flags) {
  if (!flags.to.empty()) {
    hbase::pb::SetBalancerRunningRequest request;
    request.set_on(flags.to == "on");
    request.set_synchronous(true);
    if (const auto set = session.admin.Call(methods::kSetBalancerRunning, request); !set.ok()) return set.error();
  }
  RATCHET_ASSIGN(const auto shown, (session.admin.Call(methods::kIsBalancerEnabled, {})));
  session.printer.Object({{"balancer", std::string(shown.enabled() ? "on" : "off")}});
  return kExitOk;
}

}  // namespace

Verbs ServerVerbs() {
  return {Verb<DrainFlags>("drain", "Move all regions off a server, and assign none to it until it is taken back",
                           {"drain rs1:16020", "drain rs1:16020 --and-stop"}, DrainServer),
          Verb<UndrainFlags>("undrain", "Let a drained server have regions again, and move the given regions to it",
                             {"undrain rs1:16020", "undrain rs1:16020 56f9 a3c0"}, UndrainServer),
          Plain("drained", "List the servers that are drained, until they are taken back", {"drained"}, ShowDrained),
          Verb<BalanceFlags>("balance", "Move regions so that each server has its share",
                             {"balance", "balance --dry-run"}, Balance),
          Verb<BalancerFlags>("balancer", "Show whether `balance` is allowed, or switch it",
                              {"balancer", "balancer off"}, SwitchBalancer)};
}

}  // namespace ratchet::cli
