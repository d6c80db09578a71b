// Syncs that do not come back for longer than servers put up with: of one server, of the one with hbase:meta, of the
// active master, of all. A process that hangs alone must withdraw; where all hang, none may.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncServer();
[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncMetaHolder();
[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncMaster();
[[nodiscard]] std::unique_ptr<Fault> MakeHungSyncEverywhere();

}  // namespace ratchet::chaos
