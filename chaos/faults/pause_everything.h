// All processes of a cluster stop at the same time, ZooKeeper's too, for longer than their sessions, and go on: a
// suspended laptop, a snapshot, a virtual machine that is moved. The cluster must be served again without an operator's
// help.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakePauseEverything();

}  // namespace ratchet::chaos
