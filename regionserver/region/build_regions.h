// Makes regions out of closed regions: the daughters of a split, or the result of a merge (S35: proof of a clean close,
// to S39: children inherit from all parents; S44: own name for each file).
//
// Each parent is sealed before any is read. A child gets a hard link to each file that holds rows of it, and a first
// manifest that names the links; a file is copied only if it cannot have another link. All names contain the build's
// number, so late or repeated builds do not collide. A failed build leaves only files that no manifest names.
//
// Threads: any; waits for the disk. The caller owns the directories.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/model/region_info.h"
#include "common/model/table_descriptor.h"

namespace ratchet::regionserver {

struct BuildPart {
  RegionInfo region;
  io::Directory* directory = nullptr;  // the region's directory, created by the master
};

struct BuildRequest {
  std::uint64_t number = 0;                // above every order that a parent has had: the order's pid
  std::vector<BuildPart> parents;          // neighbours, in the order of their keys
  std::vector<BuildPart> children;         // together they cover the parents' ranges
  std::vector<FamilyDescriptor> families;  // the table's current families (S49: re-added family is new)
};

struct BuildReport {
  // The reason why no child was made: a parent was not closed cleanly, and must be opened again. Empty: all children
  // exist and are durable.
  std::string not_clean;
  std::uint64_t sequence = 0;  // upper bound of all sequences that the children begin with
  std::size_t files = 0;       // number of file names made
};

// kFenced: a parent has a higher opening or build than this one. kCorruption: a parent cannot be read, as for its
// opening. kNoSpace and others: try again with another number. The caller CHECKs before it answers.
[[nodiscard]] Result<BuildReport> BuildRegions(const BuildRequest& request);

}  // namespace ratchet::regionserver
