// Runs --fence-command, the program that makes the storage give up a dead process's client, so that fencing takes a
// second instead of the storage's own time-out (S102: evict before fencing). For CephFS it is scripts/ceph/evict.
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/storage_client.h"

namespace ratchet::master {

// Runs `command` (words, separated by spaces; no shell) with the client's name and its id, if known, and waits for its
// end. OK: exit code 0, which means that the storage no longer accepts requests of this client. kTimeout: any other
// end, with the last part of the output; the program is killed after `limit`.
[[nodiscard]] Status RunFenceCommand(const Clock& clock, const std::string& command, const io::StorageClient& client,
                                     Millis limit);

}  // namespace ratchet::master
