// Faults that exhaust a resource of a process: descriptors, address space, connections, disk space for a longer time.
// The evidence is the kernel's view of the process (its limits, its open descriptors, its end).
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// A running process may open only a few more descriptors; connections to it use those up.
[[nodiscard]] std::unique_ptr<Fault> MakeFewDescriptors();
// A running process cannot allocate more memory. It must end or refuse requests; both are correct.
[[nodiscard]] std::unique_ptr<Fault> MakeLittleMemory();
// A process gets some thousand connections that send nothing, half of a handshake, or half of a frame.
[[nodiscard]] std::unique_ptr<Fault> MakeConnectionFlood();

}  // namespace ratchet::chaos
