// A client that sends impossible requests to one process for a while. The process must answer, refuse or close the
// connection, and continue.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeHostileClient();

}  // namespace ratchet::chaos
