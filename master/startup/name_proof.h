// S58 (server name proven by storage): checks the name that a server claims.
#pragma once

#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class ClusterFiles;

// Returns OK if the name is valid and a log directory of exactly this name exists and is not fenced. Otherwise returns
// the error for the server: DoNotRetryIOException for an illegal name or a missing directory, YouAreDeadException when
// the directory is fenced; or the storage's error, after which the server retries. Lists the log directories. Any
// thread.
[[nodiscard]] Status ProveServerName(ClusterFiles& files, const ServerName& server);

}  // namespace ratchet::master
