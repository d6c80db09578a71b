// ZooKeeper's data is set back to an older copy while the cluster lives: its clients have seen newer transactions.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeZooKeeperBack();

}  // namespace ratchet::chaos
