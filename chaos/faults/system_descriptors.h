// Simulates that no descriptor is free on the whole machine.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// The preloaded library makes every call that needs a descriptor fail with ENFILE, in all masters and region servers at
// the same time. The kernel's own limit (fs.file-max) would stop all other programs on this machine, too. ZooKeeper is
// not affected.
[[nodiscard]] std::unique_ptr<Fault> MakeNoDescriptorsSystem();

}  // namespace ratchet::chaos
