#include "chaos/cluster/zookeeper_config.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace ratchet::chaos {
namespace {

// Followers give up a leader after this number of silent ticks: one second, half of the usual session. A paused leader
// that continues ends all sessions by its own clock before it learns of its successor; its clients must have found the
// successor by then.
constexpr int kSyncTicks = 5;
// Time that a leader waits for a majority to join it. No other member can lead meanwhile, so if a busy follower gives
// the leader up too early, ZooKeeper does not serve for this time: 12 s were seen with 50 ticks.
constexpr int kInitTicks = 15;

}  // namespace

Status CheckZooKeeperMembers(std::int64_t members) {
  if (members == 1 || members == 3 || members == 5) return Ok();
  return Error(
      Code::kInvalidArgument,
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
      "maxClientCnxns=0\n",  // the default of 60 counts all of the loopback as one client
      spec.tick.count(), kInitTicks, kSyncTicks, (spec.dir / "data").string(), spec.port, 2 * spec.tick.count());
  for (std::size_t i = 0; i < spec.peers.size(); ++i) {
    text += fmt::format("server.{}=127.0.0.1:{}:{}\n", i + 1, spec.peers[i].quorum_port, spec.peers[i].election_port);
  }
  return text;
}

ZooKeeperState ParseZooKeeperState(const std::string& answer) {
  const auto value_of = [&](std::string_view key) -> std::string {
    const auto line = answer.find(key);
    if (line == std::string::npos) return "";
    const auto from = line + key.size();
    return answer.substr(from, std::min(answer.find('\n', from), answer.size()) - from);
  };
  ZooKeeperState state;
  state.mode = value_of("Mode: ");
  if (state.mode.empty()) return state;
  const std::string zxid = value_of("Zxid: 0x");
  std::uint64_t number = 0;
  std::from_chars(zxid.data(), zxid.data() + zxid.size(), number, 16);
  state.epoch = number >> 32U;
  return state;
}

}  // namespace ratchet::chaos
