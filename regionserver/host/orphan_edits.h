// Edits of regions whose directory is missing when a log is split (S116: missing directory is not evidence).
//
// A missing directory does not show that a region is gone. A region is gone if its directory is in archive/. If the
// directory is in quarantine/, the edits are moved to it. All other edits are kept in quarantine/edits/<region>, where
// no cleaner deletes files, and the region's next opening moves them into its directory.
//
// A region that its server has closed leaves the mark flushed.<region>.<sequence> in that server's log directory: all
// entries up to this sequence are in manifests, and remain there (S32: two-stage cleaner). A split needs no directory
// for such entries.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

inline constexpr std::string_view kQuarantineFolder = "quarantine";
inline constexpr std::string_view kKeptEditsFolder = "edits";  // in the folder above

// "flushed.<region>.<sequence>".
[[nodiscard]] std::string FlushedMark(std::string_view region, std::uint64_t sequence);
// Returns the greatest sequence in the marks of this region; nullopt when it has none.
[[nodiscard]] std::optional<std::uint64_t> FlushedUpTo(const std::vector<std::string>& names, std::string_view region);

// Owner: one split of one log. Lists archive/ and quarantine/ once, at the first region. Thread-safe.
class MissingRegions {
 public:
  // Both parameters outlive this object. `logs` is the dead server's log directory.
  MissingRegions(io::Directory& root, io::Directory& logs) : root_(root), logs_(logs) {}
  // SplitRequest::keep_edits. Asked only after the region's directory was not found below data/: a directory that is
  // being archived is found at one of the two places.
  [[nodiscard]] Result<std::unique_ptr<io::Directory>> PlaceFor(const std::string& region, std::uint64_t last_sequence);

 private:
  struct Place {
    bool archived = false;
    std::string quarantined;  // path below the root; empty: not in quarantine
  };
  [[nodiscard]] Status ListPlaces() REQUIRES(mutex_);
  [[nodiscard]] Status AddRegionsOf(const std::string& path, bool archived) REQUIRES(mutex_);

  io::Directory& root_;
  io::Directory& logs_;
  Mutex mutex_;
  bool listed_ GUARDED_BY(mutex_) = false;
  std::map<std::string, Place> places_ GUARDED_BY(mutex_);  // by the region's encoded name
  std::vector<std::string> log_names_ GUARDED_BY(mutex_);
};

// Moves the kept edits of `region` into `directory`, the region's own. Call before the opening reads its edits;
// idempotent. Returns the number of files.
[[nodiscard]] Result<std::size_t> AdoptKeptEdits(io::Directory& root, const std::string& region,
                                                 io::Directory& directory);

}  // namespace ratchet::regionserver
