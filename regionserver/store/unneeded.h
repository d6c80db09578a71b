// Which files of a region's directory are not needed any more (rule S32). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "regionserver/store/manifest.h"

namespace ratchet::regionserver {

// Of `names`, the directory as it was listed: what no opening from `open_seq` on will look at. `state` is what the
// manifest of opening `open_seq` said when it last passed its CHECK.
//  - store files of lower openings that `state` does not name. Not those of this opening: it may be writing one that no
//  manifest
//    names yet (what its compactions replace, they name themselves). Not those of higher ones: a late opening must not
//    touch what its successors live on.
//  - manifests of lower openings: their states were taken over. Their marks went when this opening claimed the region;
//  one that a
//    late duplicate has left goes now;
//  - recovered edits that `state` says are consumed (S25). Others wait for the next opening.
// A file of a parent that was split has other names in its daughters' directories, which are theirs to judge (S44).
[[nodiscard]] std::vector<std::string> UnneededFiles(const std::vector<std::string>& names, const ManifestState& state,
                                                     std::uint64_t open_seq);

}  // namespace ratchet::regionserver
