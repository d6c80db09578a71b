// "lists": linked lists that only ever point to acknowledged nodes, so that a lost node leaves a dangling pointer.
// Similar to HBase's IntegrationTestBigLinkedList.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeLists(WorkloadContext context);

}  // namespace ratchet::chaos
