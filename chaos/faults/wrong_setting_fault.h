// wrong-setting: a second master and region server with a wrong --root, --zk-parent or --zookeeper are started in
// addition to the cluster. They must refuse to start before they claim, fence or register (S72: root and ZooKeeper node
// belong together).
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeWrongSetting();

}  // namespace ratchet::chaos
