// Syncs that hang for longer than the servers' limit: on one server, on the one with hbase:meta, on the active master,
// or on all. A process that hangs alone must withdraw; if all hang, none may.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncServer();
[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncMetaHolder();
[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncMaster();
[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncEverywhere();

}  // namespace ratchet::chaos
