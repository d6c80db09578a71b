// Host names cannot be looked up while a process starts: it must wait for them, and serve when they are back.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeNoDns();

}  // namespace ratchet::chaos
