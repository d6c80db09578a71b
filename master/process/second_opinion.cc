#include "master/process/second_opinion.h"

#include <cstddef>

namespace ratchet::master {
namespace {

constexpr std::size_t kMostAsked = 3;

}  // namespace

std::string ConfirmDeath(const ServerName& suspect, const std::vector<ServerName>& online, const AskForOpinion& ask) {
  std::size_t asked = 0;
  for (const ServerName& other : online) {
    if (other.host == suspect.host && other.port == suspect.port) continue;
    if (++asked > kMostAsked) break;
    const auto verdict = ask(other, suspect);
    if (!verdict.ok()) continue;  // it may be dead itself
    return *verdict == rpc::ProbeVerdict::kGone ? other.ToString() : "";
  }
  return "";
}

}  // namespace ratchet::master
