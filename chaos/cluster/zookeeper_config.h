// Configuration of a ZooKeeper server on this machine: standalone, or a member of an ensemble. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Ports on which a member of an ensemble listens for the other members.
struct ZooKeeperPeer {
  std::uint16_t quorum_port = 0;  // the leader's followers connect here
  std::uint16_t election_port = 0;
  auto operator<=>(const ZooKeeperPeer&) const = default;
};

struct ZooKeeperSpec {
  std::filesystem::path dir;  // configuration and data; made when missing
  std::filesystem::path log;
  std::uint16_t port = 0;  // 0: pick a free port
  Millis tick{200};        // sessions expire in steps of this time
  bool dies_with_us = true;
  int number = 0;                    // number in the ensemble, from 1; 0: standalone
  std::vector<ZooKeeperPeer> peers;  // all members, including this one, by number
};

// An ensemble serves while more than half of its members do. Accepts 1, 3 or 5; kInvalidArgument gives the reason for
// other numbers.
[[nodiscard]] Status CheckZooKeeperMembers(std::int64_t members);
// Returns "zookeeper" for a single server, "zookeeper-1" and so on for the members of an ensemble; `number` begins at
// 1.
[[nodiscard]] std::string ZooKeeperName(int number, int members);

// Returns the text of zoo.cfg.
[[nodiscard]] std::string ZooKeeperConfiguration(const ZooKeeperSpec& spec);

// The state that a server reports in its answer to "srvr".
struct ZooKeeperState {
  std::string
      mode;  // "leader", "follower", "standalone"; empty while it does not serve (no answer, or no known leader)
  std::uint64_t epoch = 0;  // the newest that it has seen: each leader has a larger one than its predecessors
};
[[nodiscard]] ZooKeeperState ParseZooKeeperState(const std::string& answer);

}  // namespace ratchet::chaos
