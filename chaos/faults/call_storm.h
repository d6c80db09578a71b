// Requests that are small to send and large to serve, and scanners that stay open: a process refuses what is too much,
// gives the memory back, and other clients notice nothing.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeCallStorm();

}  // namespace ratchet::chaos
