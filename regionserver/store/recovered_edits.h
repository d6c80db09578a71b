// Files of recovered edits in a region's directory: what the split of a dead server's log has left there (S25, S26).
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/log/log_entry.h"
#include "regionserver/store/manifest.h"

namespace ratchet::regionserver {

// `uncovered`: the entry is of a line that the manifests know nothing of, so no sequence covers it (S56).
using TakeEdit = std::function<void(const LogEntry& entry, bool uncovered)>;
// Gives the entries of one file. It was published whole, so anything that is wrong with it is damage: kCorruption.
[[nodiscard]] Status ReadEdits(io::Directory& directory, const std::string& region, const std::string& name,
                               const TakeEdit& take);

// The smallest sequence of the entries that `state` does not cover; UINT64_MAX: it covers all. `names`: the directory
// as it was listed.
[[nodiscard]] Result<std::uint64_t> FirstUncovered(io::Directory& directory, const std::string& region,
                                                   const ManifestState& state, const std::vector<std::string>& names);

}  // namespace ratchet::regionserver
