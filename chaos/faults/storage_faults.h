// Faults of the shared storage, where it is a mini Ceph of the target's own: its daemons die and stop, and so do the
// clients through which single processes see it, while the processes live and their clients stay connected to them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// Null for a kind that is not one of these.
[[nodiscard]] std::unique_ptr<Fault> MakeStorageFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> StorageFaultKinds();

}  // namespace ratchet::chaos
