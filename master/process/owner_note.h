// Which storage client each claimer of the procedure store had, as names of empty files in the root itself, and the
// eviction of an earlier owner before the next claim (S102).
//
// In the root, because its listing waits for no client: many use the root, so that none holds it for itself. A folder
// that the dead master alone has changed would be held back until the storage's own time-out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"
#include "common/io/storage_client.h"

namespace ratchet::master {

using Evict = std::function<Status(const io::StorageClient&)>;

// Before anything but the root's names is looked at: evicts every client that is noted, but never `own`. Each of them
// has claimed, or was about to; one that lost lives on as a standby at most, and comes again. An error of `evict` is
// returned: no claim. The answer: the names in the root, which is listed once for a claim.
[[nodiscard]] Result<std::vector<std::string>> EvictEarlierOwners(io::Directory& root,
                                                                  const std::optional<io::StorageClient>& own,
                                                                  const Evict& evict);
// After it, with these names, and before the claim that follows `highest`: forgets what is noted for epochs before
// that, and notes `own` for the next one.
[[nodiscard]] Status PrepareClaim(io::Directory& root, const std::vector<std::string>& names, Epoch highest,
                                  const std::optional<io::StorageClient>& own);
// Another master was faster, so that `claimed` is a later one than was noted.
[[nodiscard]] Status NoteClaim(io::Directory& root, Epoch claimed, const io::StorageClient& own);

}  // namespace ratchet::master
