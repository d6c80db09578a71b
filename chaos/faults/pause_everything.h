// All processes of a cluster, including ZooKeeper's, pause at the same time for longer than their sessions, and
// continue: as on a suspended laptop, or during a snapshot or migration of a virtual machine. The cluster must be
// served again without an operator's help.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakePauseEverything();

}  // namespace ratchet::chaos
