// A bit of a live store file is wrong for a while: reads are refused, never answered wrongly, and all rows are there
// when it is right again.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeFlipBytes();

}  // namespace ratchet::chaos
