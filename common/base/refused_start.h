// The end of a server's start that cannot read one of its own files.
#pragma once

#include <string>

#include "common/base/exit_latch.h"
#include "common/base/self_restart.h"

namespace ratchet {

// Prints `why`, and returns the exit code: kUsage, unless the system's error text shows that a resource is missing
// (CodeOfEnd). If such an end leads to a restart (`enabled`: --start-again), the process waits for its delay and
// becomes the next incarnation, S75 (self-restart by exec). Returns if an end was requested.
[[nodiscard]] int EndOfRefusedStart(const SelfRestart& self_restart, ExitLatch& exit, const char* program,
                                    const std::string& why, bool enabled);

}  // namespace ratchet
