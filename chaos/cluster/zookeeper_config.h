// How a ZooKeeper server of a cluster on this machine is set up: alone, or as a member of an ensemble. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

// Where a member of an ensemble listens for the other members.
struct ZooKeeperPeer {
  std::uint16_t quorum_port = 0;  // the leader's followers connect here
  std::uint16_t election_port = 0;
  auto operator<=>(const ZooKeeperPeer&) const = default;
};

struct ZooKeeperSpec {
  std::filesystem::path dir;  // configuration and data; made when missing
  std::filesystem::path log;
  std::uint16_t port = 0;  // 0: a free one is picked
  Millis tick{200};        // sessions expire in steps of it
  bool dies_with_us = true;
  int number = 0;                    // among the members of an ensemble, from 1; 0: it stands alone
  std::vector<ZooKeeperPeer> peers;  // all members, itself too, in the order of their numbers
};

// An ensemble serves while more than half of its members do. 1, 3 or 5; kInvalidArgument says why not another number.
[[nodiscard]] Status CheckZooKeeperMembers(std::int64_t members);
// "zookeeper" for the only one, "zookeeper-1" and so on for the members of an ensemble; `number` from 1.
[[nodiscard]] std::string ZooKeeperName(int number, int members);

// The text of zoo.cfg.
[[nodiscard]] std::string ZooKeeperConfiguration(const ZooKeeperSpec& spec);

// What a server says of itself in its answer to "srvr".
struct ZooKeeperState {
  std::string
      mode;  // "leader", "follower", "standalone"; empty while it does not serve (no answer, or no leader is known)
  std::uint64_t epoch = 0;  // of what it has seen: each leader has a larger one than those before it
};
[[nodiscard]] ZooKeeperState ParseZooKeeperState(const std::string& answer);

}  // namespace ratchet::chaos
