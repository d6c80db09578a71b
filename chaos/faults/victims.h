// Chooses victims among the running processes, from the seeded source. Runs on the driver's thread.
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
// Returns masters and region servers.
[[nodiscard]] Victims RunningServers(Target& target);
// Returns `count` random members of `all`, in random order.
[[nodiscard]] Victims RandomSubset(Victims all, std::size_t count, Prng& prng);

// kUnavailable when no process fits now.
[[nodiscard]] Result<Victims> PickActiveMaster(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickStandby(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickMetaHolder(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickServer(Target& target, Prng& prng);
// Picks two or more, so that at least one remains.
[[nodiscard]] Result<Victims> PickSomeServers(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickAllServers(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickMasterAndMetaHolder(Target& target, Prng& prng);
// Picks a master or a region server.
[[nodiscard]] Result<Victims> PickAnyProcess(Target& target, Prng& prng);
// Picks two or more masters and region servers together.
[[nodiscard]] Result<Victims> PickSwizzle(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickZooKeeper(Target& target, Prng& prng);
// If several members report that they lead, picks the one with the largest epoch: a paused leader does not know of its
// successor.
[[nodiscard]] Result<Victims> PickZooKeeperLeader(Target& target, Prng& prng);
// Picks enough members to leave no majority, but at least one member.
[[nodiscard]] Result<Victims> PickZooKeeperMajority(Target& target, Prng& prng);
[[nodiscard]] Result<Victims> PickAllZooKeepers(Target& target, Prng& prng);

// Requirements of faults of a part of ZooKeeper, and why they are not met; nullopt when they are.
inline constexpr std::string_view kNeedsEnsemble = "3 ZooKeeper members (--zookeepers 3)";
[[nodiscard]] std::optional<std::string> WhyNoEnsemble(Target& target);

}  // namespace ratchet::chaos
