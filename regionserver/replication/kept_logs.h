// Where the logs of a server are as long as they are needed: <root>/wals/<server>, behind its fence
// <root>/wals/<server>-splitting, and while they are shipped to peers yet <root>/oldWALs/<server>. They move forward
// only.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Below <root>: logs of dead servers that are not shipped yet, by server.
inline constexpr const char* kKeptLogsFolder = "oldWALs";
inline constexpr const char* kLogsFolder = "wals";

// They are in none of these places: what they had for peers is shipped. `server`: one that has written a log.
[[nodiscard]] Result<bool> LogsAreGone(io::Directory& root, const std::string& server);

}  // namespace ratchet::regionserver
