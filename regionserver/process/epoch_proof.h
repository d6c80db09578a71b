// S59 (epoch proven by a claim): proves a claim of an epoch by files on the storage.
#pragma once

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// OK: a master has claimed this epoch: claim.<epoch> is in the root, where it stays permanently (S9': claim in root and
// store), or in procedures/. kStale: no master has, so the sender is not a master. Other errors: the storage does not
// answer, so the claim is not accepted now. Any thread.
[[nodiscard]] Status ProveEpoch(io::Directory& root, Epoch claimed);

}  // namespace ratchet::regionserver
