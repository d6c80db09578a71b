// How a command ends, and the exit code for each kind of error. Shown by `ratchet --help`.
#pragma once

#include "common/base/result.h"

namespace ratchet::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;       // the cluster refused or failed the request
inline constexpr int kExitUsage = 2;        // wrong flags or arguments
inline constexpr int kExitUnreachable = 3;  // no master, ZooKeeper or region server answered in time
inline constexpr int kExitTimeout = 4;      // the deadline passed; the request may or may not have been executed
inline constexpr int kExitNotFound = 5;     // the table, region, row or procedure does not exist

[[nodiscard]] int ExitCodeOf(const Error& error);

}  // namespace ratchet::cli
