// Determines which files of a region's directory are no longer needed (S32: two-stage cleaner). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "regionserver/store/manifest.h"

namespace ratchet::regionserver {

// Returns those of `names`, a listing of the directory, that no opening from `open_number` on reads. `state` is the
// state of opening `open_number` at its last CHECK.
// - Store files of lower openings that `state` does not name. Excluded are files of this opening, because it may be
//   writing one that no manifest names yet (its compactions mark the files that they replace), and files of higher
//   openings, because a late opening must not touch the files of its successors.
// - Manifests of lower openings: their states were copied. Their marks were renamed when this opening claimed the
//   region; a mark that a late duplicate has left is removed now.
// - Recovered edits that `state` lists as consumed (S25: recovered edits stay until flushed). Others wait for the next
// opening.
// A file of a parent that was split has other links in its daughters' directories, which manage them themselves (S44:
// own name for each file).
[[nodiscard]] std::vector<std::string> UnneededFiles(const std::vector<std::string>& names, const ManifestState& state,
                                                     std::uint64_t open_number);

}  // namespace ratchet::regionserver
