#include "common/tools/cli/security_steps.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>

#include <fmt/format.h>

namespace ratchet::cli {
namespace {

// Returns what a process lacks for a step.
using Judge = std::function<std::optional<std::string>(const pb::ProcessSecurity&)>;

std::optional<std::string> Unless(bool good, std::string lacks) {
  return good ? std::nullopt : std::optional(std::move(lacks));
}

std::string Has(const char* setting, const std::string& value) {
  return fmt::format("--{} is {}", setting, value.empty() ? "not known" : value);
}

std::optional<std::string> PlainConnections(const pb::ProcessSecurity& process) {
  if (process.plain().empty()) return std::nullopt;
  std::string peers;
  for (const auto& peer : process.plain())
    peers += fmt::format("{}{} from {}", peers.empty() ? "" : ", ", peer.connections(), peer.address());
  return "connections in plain text: " + peers;
}

std::optional<std::string> RightsOf(const pb::ProcessSecurity& process) {
  if (process.rights() != "enforce")
    return fmt::format("{}; {} demands would have been refused since the start of the process",
                       Has("rights", process.rights()), process.would_be_refused());
  return Unless(process.users_from() != "off" && !process.users_from().empty(),
                "--tls-user-from is off, so the users are those that clients name");
}

}  // namespace

std::vector<SecurityStep> SecuritySteps(const std::vector<pb::ProcessSecurity>& processes,
                                        const std::vector<std::string>& silent) {
  const std::vector<std::pair<std::string, Judge>> judged{
      {"certificates everywhere, --tls accept",
       [](const auto& p) { return Unless(p.tls() == "accept" || p.tls() == "require", Has("tls", p.tls())); }},
      {"--tls-connect", [](const auto& p) { return Unless(p.tls_connect(), Has("tls-connect", "false")); }},
      {"--member-proof required, new cluster.key",
       [](const auto& p) -> std::optional<std::string> {
         if (!p.proof_key()) return "cluster.key has a key of an earlier version, which was sent in clear: replace it";
         return Unless(p.proof_required(), "--member-proof accepts processes of earlier versions");
       }},
      {"clients connect by TLS", PlainConnections},
      {"--rights enforce", RightsOf},
      {"--tls require", [](const auto& p) { return Unless(p.tls() == "require", Has("tls", p.tls())); }},
      {"--zk-acl set",
       [](const auto& p) { return Unless(!p.has_zk_acl() || p.zk_acl() == "set", Has("zk-acl", p.zk_acl())); }},
  };
  std::vector<SecurityStep> steps{{"the new version everywhere", {}}};
  for (const std::string& process : silent)
    steps.front().missing.push_back(process +
                                    ": it does not report its settings; it is of an earlier version, or does "
                                    "not answer");
  for (const auto& [name, judge] : judged) {
    SecurityStep step{name, {}};
    for (const pb::ProcessSecurity& process : processes) {
      if (const auto lacks = judge(process)) step.missing.push_back(fmt::format("{}: {}", process.process(), *lacks));
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::size_t StepsDone(const std::vector<SecurityStep>& steps) {
  const auto first = std::find_if(steps.begin(), steps.end(), [](const SecurityStep& s) { return !s.missing.empty(); });
  return static_cast<std::size_t>(first - steps.begin());
}

}  // namespace ratchet::cli
