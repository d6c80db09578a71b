// Reads the files of the root that tell this process where it belongs: the cluster's identity and keys, its own start
// code, and the claims of masters' epochs.
//
// Threads: any; all functions use the storage.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/cluster_key.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// S5 (rising start code): returns the number that distinguishes the runs of a server on a host and port, max(`now_ms`,
// greatest start code among the log directories of this host and port + 1), including fenced ones, so that a clock that
// was set back never repeats a name. `wals` is <root>/wals.
[[nodiscard]] Result<std::uint64_t> ChooseStartCode(io::Directory& wals, const std::string& host, std::uint16_t port,
                                                    std::int64_t now_ms);

// Waits for the files that the first master writes into the root: cluster.id (common/io/cluster_id.h), which identifies
// the directory's cluster, and cluster.key (common/io/cluster_key.h), which its processes prove to each other.
// `wait(pause)` pauses and returns true when the process must end (kAborted). kTimeout after `limit`.
[[nodiscard]] Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                                 const std::function<bool(Millis pause)>& wait);
// Call it only when the root is known to match its node in ZooKeeper (S72: root and ZooKeeper node belong together).
[[nodiscard]] Result<io::ClusterKeys> AwaitClusterKeys(io::Directory& root, Clock& clock, Millis limit,
                                                       const std::function<bool(Millis pause)>& wait);

// S59 (epoch proven by a claim): proves a claim of an epoch by files on the storage. OK: a master has claimed this
// epoch: claim.<epoch> is in the root, where it stays permanently (S9': claim in root and store), or in procedures/.
// kStale: no master has, so the sender is not a master. Other errors: the storage does not answer, so the claim is not
// accepted now.
[[nodiscard]] Status ProveEpoch(io::Directory& root, Epoch claimed);

}  // namespace ratchet::regionserver
