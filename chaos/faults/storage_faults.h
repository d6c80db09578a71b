// Faults of the shared storage, if it is a small Ceph cluster of the target's own: its daemons die and pause, and so do
// the storage clients of single processes, while the processes live and their own clients stay connected.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// Returns null for other kinds.
[[nodiscard]] std::unique_ptr<Fault> MakeStorageFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> StorageFaultKinds();

}  // namespace ratchet::chaos
