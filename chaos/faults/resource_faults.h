// Faults of what a process runs out of: descriptors, address space, connections, disk space for a longer time. What the
// kernel says of the process (its limits, its open descriptors, its end) is the evidence.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// A running process may open a few more descriptors and no more; connections to it use those up.
[[nodiscard]] std::unique_ptr<Fault> MakeFewDescriptors();
// A running process may not grow any more. It ends or refuses; both are right.
[[nodiscard]] std::unique_ptr<Fault> MakeLittleMemory();
// A process gets some thousand connections that say nothing, half of a handshake, or half of a frame.
[[nodiscard]] std::unique_ptr<Fault> MakeConnectionFlood();

}  // namespace ratchet::chaos
