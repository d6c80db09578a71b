// No descriptor is free on the whole machine, as the cluster sees it.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// Every master and region server gets ENFILE for whatever would make a descriptor, at the same time, from the preloaded
// library: the kernel's own limit (fs.file-max) would stop everything else on this machine too. ZooKeeper goes on.
[[nodiscard]] std::unique_ptr<Fault> MakeNoDescriptorsSystem();

}  // namespace ratchet::chaos
