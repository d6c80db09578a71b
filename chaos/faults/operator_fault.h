// An operator with random verbs: pauses types of procedures, and parks, reruns, aborts, bypasses and gives up what
// belongs to a table of the fault's own. Every verb is executed or refused; nothing of other clients is lost.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeOperator();

}  // namespace ratchet::chaos
