// How a command ends: the word and the exit code for each kind of error, one code for each word. Shown by
// `ratchet --help`.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace ratchet::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;       // the cluster refused or failed the request
inline constexpr int kExitUsage = 2;        // wrong flags or arguments, found here or by the cluster
inline constexpr int kExitUnreachable = 3;  // no attempt succeeded in time, and none can have been executed
inline constexpr int kExitTimeout = 4;      // the deadline passed; the request may or may not have been executed
inline constexpr int kExitNotFound = 5;     // the table, region, row or procedure does not exist
inline constexpr int kExitWaits = 6;        // `ratchet why`: something waits

struct Ending {
  std::string_view word;  // "NOT_FOUND"
  int exit = kExitFailed;
};
// Two errors with one word have one exit code.
[[nodiscard]] Ending EndingOf(const Error& error);
[[nodiscard]] inline int ExitCodeOf(const Error& error) { return EndingOf(error).exit; }

}  // namespace ratchet::cli
