// Victims: choices among the processes that run, from the seeded source. The driver's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/faults/target.h"
#include "common/base/prng.h"

namespace ratchet::chaos {

using Victims = std::vector<std::string>;
using PickVictims = Result<Victims> (*)(Target& target, Prng& prng);

[[nodiscard]] Victims RunningOnes(Target& target, Role role);
// Masters and region servers.
[[nodiscard]] Victims RunningServers(Target& target);
// A random part of `all` with `count` members, in random order.
[[nodiscard]] Victims RandomSubset(Victims all, std::size_t count, Prng& prng);

// kUnavailable when no process fits now.
[[nodiscard]] Result<Victims> PickActiveMaster(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickStandby(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickMetaHolder(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickServer(Target& target, Prng& prng);
// Two or more, at least one is left.
[[nodiscard]] Result<Victims> PickSomeServers(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickAllServers(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickMasterAndMetaHolder(Target& target, Prng& prng);
// A master or a region server.
[[nodiscard]] Result<Victims> PickAnyProcess(Target& target, Prng& prng);
// Two or more of masters and region servers together.
[[nodiscard]] Result<Victims> PickSwizzle(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickZooKeeper(Target& target, Prng& prng);
// Of several that say that they lead the one of the largest epoch: one that was stopped does not know yet that it has a
// successor.
[[nodiscard]] Result<Victims> PickZooKeeperLeader(Target& target, Prng& prng);
// So many that the others are no majority, and at least one is left.
[[nodiscard]] Result<Victims> PickZooKeeperMajority(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickAllZooKeepers(Target& target, Prng& prng);

// What faults of a part of ZooKeeper need, and why they cannot be had; nothing when they can.
inline constexpr std::string_view kNeedsEnsemble = "3 ZooKeeper members (--zookeepers 3)";
[[nodiscard]] std::optional<std::string> WhyNoEnsemble(Target& target);

}  // namespace ratchet::chaos
