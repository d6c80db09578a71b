// starved-process: one process gets almost no processor time for a while. It is stopped for 95 % of each short period.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeStarvedProcess();

}  // namespace ratchet::chaos
