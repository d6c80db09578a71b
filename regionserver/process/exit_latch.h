// Holds the process's one reason to end (common/base/exit_latch.h), under this folder's name.
#pragma once

#include "common/base/exit_latch.h"

namespace ratchet::regionserver {

using ratchet::ExitLatch;
using ratchet::ExitReason;

}  // namespace ratchet::regionserver
