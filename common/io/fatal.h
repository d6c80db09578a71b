// Implements S6 (failed sync ends the process).
//
// After fsync has failed the kernel may have marked the lost pages clean, so that a second call reports a false
// success. The owner of a log calls DieOnFailedSync with the result of each sync (and of each write that a later sync
// would have to cover).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::io {

// The exit code of a process that could not make its log durable.
inline constexpr int kExitFailedSync = 86;

// Called instead of exiting. Must be set before threads start; tests only.
using FatalHandler = std::function<void(const std::string& reason)>;
void SetFatalHandler(FatalHandler handler);  // empty: exit again

// OK: returns true. An error: logs `what` with the reason and _exits(kExitFailedSync). If a test's handler replaces the
// exit it returns false, and the caller must not complete any commit.
[[nodiscard]] bool DieOnFailedSync(const Status& status, std::string_view what);

}  // namespace ratchet::io
