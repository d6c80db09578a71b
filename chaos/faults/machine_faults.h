// Faults of what a process stands on: syncs that are slow, stall or fail, clocks that jump or drift, a full disk, a
// power failure. What the preloaded library or the kernel said is the evidence.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// Null for a kind that is not one of these.
[[nodiscard]] std::unique_ptr<Fault> MakeShimFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> ShimFaultKinds();

[[nodiscard]] std::unique_ptr<Fault> MakeFullDisk();
// A few MiB are left for some time, and processes die meanwhile.
[[nodiscard]] std::unique_ptr<Fault> MakeNearlyFullDisk();
[[nodiscard]] std::unique_ptr<Fault> MakePowerFailure();

// Of containers: out of their network and back.
[[nodiscard]] std::unique_ptr<Fault> MakeDisconnectServer();
[[nodiscard]] std::unique_ptr<Fault> MakeDisconnectActiveMaster();

}  // namespace ratchet::chaos
