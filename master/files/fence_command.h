// The program that makes the storage give up a dead process's client, so that fencing takes a second and not the
// storage's own time-out (S102): --fence-command, for CephFS scripts/ceph/evict.
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/storage_client.h"

namespace ratchet::master {

// Runs `command` (words, separated by spaces; no shell) with the client's name and, where it is known, its id, and
// waits for its end. OK: it ended with 0, which says that the storage takes nothing from this client any more.
// kTimeout: anything else, with the end of what it wrote; one that takes longer than `limit` is killed.
[[nodiscard]] Status RunFenceCommand(const Clock& clock, const std::string& command, const io::StorageClient& client,
                                     Millis limit);

}  // namespace ratchet::master
