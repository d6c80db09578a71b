// Faults of a process's environment: slow, stalled or failing syncs, clocks that jump or drift, a full disk, a power
// failure. The evidence is from the preloaded library or the kernel.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// Returns null for other kinds.
[[nodiscard]] std::unique_ptr<Fault> MakeShimFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> ShimFaultKinds();

[[nodiscard]] std::unique_ptr<Fault> MakeFullDisk();
// Leaves a few MiB free for some time, while processes die.
[[nodiscard]] std::unique_ptr<Fault> MakeNearlyFullDisk();
[[nodiscard]] std::unique_ptr<Fault> MakePowerFailure();

// Disconnect a container from its network and reconnect it.
[[nodiscard]] std::unique_ptr<Fault> MakeDisconnectServer();
[[nodiscard]] std::unique_ptr<Fault> MakeDisconnectActiveMaster();

}  // namespace ratchet::chaos
