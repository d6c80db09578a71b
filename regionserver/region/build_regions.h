// Makes regions out of regions that are closed: the daughters of a split, the one that a merge leaves (S35 to S39,
// S44).
//
// Each parent is sealed before any is read. A child gets a name of its own for each file that holds rows of it, and a
// first manifest that names them; nothing is copied as long as a file can have one name more. Everything made bears the
// build's number, so builds that run late, or twice, do not meet. Whatever fails leaves files that no manifest names.
//
// Threads: any; waits for the disk. The directories are the caller's.
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
  io::Directory* directory = nullptr;  // the region's; made by the master
};

struct BuildRequest {
  std::uint64_t number = 0;                // above every order that a parent has had: the order's pid
  std::vector<BuildPart> parents;          // neighbours, in the order of their keys
  std::vector<BuildPart> children;         // their ranges are the parents' ranges together
  std::vector<FamilyDescriptor> families;  // of the table now (S49)
};

struct BuildReport {
  // Why no child was made: a parent was not closed cleanly, and has to be opened again. Empty: all are there, durably.
  std::string not_clean;
  std::uint64_t sequence = 0;  // all that the children begin with is at or below it
  std::size_t files = 0;       // names given
};

// kFenced: a parent has a higher opening or build than this one. kCorruption: a parent cannot be read, as for its
// opening. kNoSpace and others: try again with another number. The caller CHECKs before it answers.
[[nodiscard]] Result<BuildReport> BuildRegions(const BuildRequest& request);

}  // namespace ratchet::regionserver
