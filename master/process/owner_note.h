// Notes the storage client of each claimer of the procedure store, as names of empty files in the root itself, and
// evicts an earlier owner before the next claim (S102: evict before fencing).
//
// The notes are in the root, because its listing waits for no client: many clients use the root, so none holds it
// exclusively. The listing of a folder that only the dead master changed would wait for the storage's own time-out.
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

// Evicts every noted client except `own`. Call before any access to the root other than its listing. Each noted client
// has claimed, or was about to; a loser is at most a standby, and restarts. An error of `evict` is returned and
// prevents the claim. Returns the names in the root, which is listed once for a claim.
[[nodiscard]] Result<std::vector<std::string>> EvictEarlierOwners(io::Directory& root,
                                                                  const std::optional<io::StorageClient>& own,
                                                                  const Evict& evict);
// Call after EvictEarlierOwners with its names, before the claim that follows `highest`. Removes the notes of earlier
// epochs, and notes `own` for the next epoch.
[[nodiscard]] Status PrepareClaim(io::Directory& root, const std::vector<std::string>& names, Epoch highest,
                                  const std::optional<io::StorageClient>& own);
// Corrects the note if other masters claimed epochs meanwhile, so that `claimed` is later than noted.
[[nodiscard]] Status NoteClaim(io::Directory& root, Epoch claimed, const io::StorageClient& own);

}  // namespace ratchet::master
