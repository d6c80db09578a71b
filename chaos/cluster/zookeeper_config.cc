#include "chaos/cluster/zookeeper_config.h"

#include <algorithm>

#include <fmt/format.h>

namespace ratchet::chaos {
namespace {

// Followers give a leader up, and a leader its followers, after five silent ticks: a second, half of the usual session. How long
// a member may take to join is another matter: its JVM starts on a machine that is being broken.
constexpr int kInitTicks = 50;
constexpr int kSyncTicks = 5;

}  // namespace

Status CheckZooKeeperMembers(std::int64_t members) {
  if (members == 1 || members == 3 || members == 5) return Ok();
  return Error(Code::kInvalidArgument,
               fmt::format("{} ZooKeeper members: expected 1, 3 or 5 (an even number survives no more deaths than the odd one "
                           "below it)",
                           members));
}

std::string ZooKeeperName(int number, int members) {
  return members == 1 ? "zookeeper" : fmt::format("zookeeper-{}", number);
}

std::string ZooKeeperConfiguration(const ZooKeeperSpec& spec) {
  std::string text = fmt::format(
      "tickTime={}\ninitLimit={}\nsyncLimit={}\ndataDir={}\nclientPortAddress=127.0.0.1\nclientPort={}\n"
      "admin.enableServer=false\n4lw.commands.whitelist=*\n"
      "minSessionTimeout={}\nmaxSessionTimeout=60000\n"
      "maxClientCnxns=0\n",  // the default of 60 counts the whole loopback as one client
      spec.tick.count(), kInitTicks, kSyncTicks, (spec.dir / "data").string(), spec.port, 2 * spec.tick.count());
  for (std::size_t i = 0; i < spec.peers.size(); ++i) {
    text += fmt::format("server.{}=127.0.0.1:{}:{}\n", i + 1, spec.peers[i].quorum_port, spec.peers[i].election_port);
  }
  return text;
}

std::string ZooKeeperMode(const std::string& answer) {
  constexpr std::string_view kMode = "Mode: ";
  const auto line = answer.find(kMode);
  if (line == std::string::npos) return "";
  const auto from = line + kMode.size();
  return answer.substr(from, std::min(answer.find('\n', from), answer.size()) - from);
}

}  // namespace ratchet::chaos
