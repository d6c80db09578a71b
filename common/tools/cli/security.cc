// `ratchet security status`: the step at which the protection of the cluster is, and what is missing.
#include <algorithm>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/processes.h"
#include "common/tools/cli/security_steps.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr Millis kPatienceWithStandby{5'000};

struct SecurityFlags {
  std::string action;
  void Bind(CLI::App& verb) {
    Need(verb, "action", action, "status", "status: the steps that are done, and what is missing for the next ones")
        ->check(CLI::IsMember({"status"}));
  }
};

// The report of a standby, which only it can give.
std::optional<pb::ProcessSecurity> AskStandby(Session& session, const hbase::pb::ServerName& standby) {
  const auto reply =
      AskProcess(session, EndpointOf(standby), methods::kGetStatus, pb::GetStatusRequest(), kPatienceWithStandby);
  if (!reply.ok() || reply->security().empty()) return std::nullopt;
  return reply->security(0);
}

Result<int> ShowSecurity(Session& session, const SecurityFlags& /*flags*/) {
  RATCHET_ASSIGN(const auto status, session.admin.Call(methods::kGetStatus, pb::GetStatusRequest()));
  std::vector<pb::ProcessSecurity> processes(status.security().begin(), status.security().end());
  std::vector<std::string> silent;
  const auto reported = [&processes](const std::string& name) {
    return std::any_of(processes.begin(), processes.end(), [&](const auto& each) { return each.process() == name; });
  };
  const std::string active = MasterText(status.master());
  if (!reported(active)) silent.push_back(active);
  for (const auto& standby : status.backup_master()) {
    auto facts = AskStandby(session, standby);
    if (facts.has_value()) {
      processes.push_back(*std::move(facts));
    } else {
      silent.push_back(MasterText(standby));
    }
  }
  for (const auto& server : status.live_server()) {
    const std::string name = RegionServerText(server);
    if (!reported(name)) silent.push_back(name);
  }
  const std::vector<SecurityStep> steps = SecuritySteps(processes, silent);
  const std::size_t done = StepsDone(steps);
  std::vector<std::vector<Field>> rows;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    rows.push_back({Number(i + 1), steps[i].name, std::string(steps[i].missing.empty() ? "done" : "missing")});
  }
  std::vector<std::vector<Field>> missing;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::string& text : steps[i].missing) missing.push_back({Number(i + 1), text});
  }
  session.printer.Document({{"steps done", Number(done)}, {"steps", Number(steps.size())}},
                           {{"list", "", {"STEP", "NAME", "STATE"}, rows}, {"missing", "", {"STEP", "WHAT"}, missing}});
  return kExitOk;
}

}  // namespace

Verbs SecurityVerbs() {
  return {Verb<SecurityFlags>("security", "Show which steps towards a protected cluster are done",
                              {"security status", "security status --json"}, ShowSecurity)};
}

}  // namespace ratchet::cli
