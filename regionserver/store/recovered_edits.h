// Reads the files of recovered edits in a region's directory, which splits of dead servers' logs write (S25: recovered
// edits stay until flushed; S26: split up to the seal). Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/store/manifest.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// `uncovered`: the entry belongs to a line that the manifests do not know, so no sequence covers it (S56: falling
// sequences are replayed).
using EditConsumer = std::function<void(const LogEntry& entry, bool uncovered)>;
// Passes the entries of one file to `take`. The file was published as a whole, so every error in it is damage:
// kCorruption.
[[nodiscard]] Status ReadEdits(io::Directory& directory, const std::string& region, const std::string& name,
                               const EditConsumer& take);

// Returns the smallest sequence of the entries that `state` does not cover; UINT64_MAX: it covers all. `names` is a
// listing of the directory.
[[nodiscard]] Result<std::uint64_t> FirstUncovered(io::Directory& directory, const std::string& region,
                                                   const ManifestState& state, const std::vector<std::string>& names);

}  // namespace ratchet::regionserver
