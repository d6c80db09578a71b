// Splits one log of a dead server into recovered edits, by an order of a master.
//
// Threads: any; a split waits for the disk, and makes short-lived threads of its own.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/orders/order_decoder.h"

namespace ratchet::regionserver {

// Returns a text about the split for the master's log.
[[nodiscard]] Result<std::string> RunSplit(io::Directory& root, const SplitLogOrder& order);

}  // namespace ratchet::regionserver
