// Splits one log of a dead server into recovered edits, by an order of a master.
//
// Threads: any; a split waits for the disk, and makes short-lived threads of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/orders/order_decoder.h"

namespace ratchet::regionserver {

// Calls job(0) ... job(count - 1), each once, on at most `threads` threads of which the caller's is one, and returns
// when all have ended. For many short jobs that mostly wait for the disk.
void RunSideBySide(std::size_t threads, std::size_t count, const std::function<void(std::size_t)>& job);

// Returns a text about the split for the master's log.
[[nodiscard]] Result<std::string> RunSplit(io::Directory& root, const SplitLogOrder& order);

}  // namespace ratchet::regionserver
