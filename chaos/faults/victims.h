// Who is to suffer: choices among the processes that run, from the seeded source. The driver's thread.
#pragma once

#include <string>
#include <vector>

#include "chaos/faults/target.h"
#include "common/base/prng.h"

namespace ratchet::chaos {

using Victims = std::vector<std::string>;
using PickVictims = Result<Victims> (*)(Target& target, Prng& prng);

[[nodiscard]] Victims RunningOnes(Target& target, Role role);
// A random part of `all` with `count` members, in random order.
[[nodiscard]] Victims RandomSubset(Victims all, std::size_t count, Prng& prng);

// kUnavailable when nobody fits now.
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

}  // namespace ratchet::chaos
