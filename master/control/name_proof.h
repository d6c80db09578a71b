// S58: a claim of a server's name, proven by what is on the storage.
#pragma once

#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class ClusterFiles;

// OK: the name is valid, and the server's own log directory of exactly this name is there and alive. Otherwise the
// answer to the server: DoNotRetryIOException for a name that is illegal or that no directory proves,
// YouAreDeadException when the directory is fenced; or the storage's error, after which the server asks again. Lists
// the log directories. Any thread.
[[nodiscard]] Status ProveServerName(ClusterFiles& files, const ServerName& server);

}  // namespace ratchet::master
