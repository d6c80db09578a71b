// S59: a claim of an epoch, proven by what is on the storage.
#pragma once

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// OK: a master has claimed this epoch: claim.<epoch> is below <root>/procedures, where it stays for ever (S9). kStale:
// none has, so the sender is no master. Another error: the storage does not say; the claim is not to be believed now.
// Any thread.
[[nodiscard]] Status ProveEpoch(io::Directory& root, Epoch claimed);

}  // namespace ratchet::regionserver
