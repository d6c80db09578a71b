// Links the files of regions into a new region's directory, and writes its first manifest (S37: numbered build output;
// S39: children inherit from all parents; S44: own name for each file).
//
// Used for splits, merges, parts of snapshots and clones. A file is copied only if it cannot have another link. All
// names contain one number, so late or repeated makers do not collide; a failed maker leaves only files that no
// manifest names.
//
// Threads: one at a time; waits for the disk. The caller owns the directories.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/model/region_info.h"
#include "common/model/table_descriptor.h"
#include "regionserver/store/manifest.h"

namespace ratchet::regionserver {

// A region as its files have it, in `directory`.
struct MadeOf {
  RegionInfo region;
  io::Directory* directory = nullptr;
  ManifestState state;
};

class RegionMaker {
 public:
  // `number` is part of every new name. `families` are the table's current ones (S49: re-added family is new).
  // `parents`: neighbours, in the order of their keys.
  RegionMaker(std::uint64_t number, std::vector<FamilyDescriptor> families, std::vector<MadeOf> parents);

  // Makes the links to the files that hold rows of `child`, then its manifest. kNotFound: a parent removed a file
  // meanwhile.
  [[nodiscard]] Status Make(const RegionInfo& child, io::Directory& directory);

  // Returns the upper bound of all sequences that the new regions begin with.
  [[nodiscard]] std::uint64_t sequence() const { return inherited_.flushed_sequence; }
  [[nodiscard]] std::size_t files() const { return files_; }    // number of names made
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // size of these files

 private:
  const std::uint64_t number_;
  const std::vector<FamilyDescriptor> families_;
  const std::vector<MadeOf> parents_;
  const ManifestState inherited_;
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace ratchet::regionserver
