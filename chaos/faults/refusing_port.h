// reset-and-refuse: all connections of one process are reset and its port refuses for a while, as if it had died, but
// it lives.
//
// To the masters this is a death (S121: early findings are positive), so the process is expired or replaced although it
// can work. It must then end by itself, and nothing that was acknowledged may be lost.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeResetAndRefuse();

}  // namespace ratchet::chaos
