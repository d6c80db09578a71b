// The directories that have a server's logs while they are needed: first <root>/wals/<server>; after the fence
// <root>/wals/<server>-splitting; then, while peers still need them, <root>/oldWALs/<server>. Logs move only in this
// order.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Below <root>: logs of dead servers that are not shipped yet, in a folder for each server.
inline constexpr const char* kKeptLogsFolder = "oldWALs";
inline constexpr const char* kLogsFolder = "wals";

// Returns true when the logs are in none of these places, so all that peers need is shipped. `server` has written a
// log.
[[nodiscard]] Result<bool> LogsAreGone(io::Directory& root, const std::string& server);

}  // namespace ratchet::regionserver
