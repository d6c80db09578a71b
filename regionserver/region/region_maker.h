// Gives the files of regions names in a new region's directory, and writes its first manifest (S37, S39, S44).
//
// What a split, a merge, a snapshot's part and a clone have in common. Nothing is copied as long as a file can have one
// name more. Everything made bears one number, so makers that run late, or twice, do not meet; whatever fails leaves
// files that no manifest names.
//
// Threads: one at a time; waits for the disk. The directories are the caller's.
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
  // `number`: of every name that is given. `families`: of the table now (S49). `parents`: neighbours, in the order of
  // their keys.
  RegionMaker(std::uint64_t number, std::vector<FamilyDescriptor> families, std::vector<MadeOf> parents);

  // The files that hold rows of `child`, then its manifest. kNotFound: a parent has given a file up meanwhile.
  [[nodiscard]] Status Make(const RegionInfo& child, io::Directory& directory);

  // All that the new regions begin with is at or below it.
  [[nodiscard]] std::uint64_t sequence() const { return inherited_.flushed_sequence; }
  [[nodiscard]] std::size_t files() const { return files_; }    // names given
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // of those files

 private:
  const std::uint64_t number_;
  const std::vector<FamilyDescriptor> families_;
  const std::vector<MadeOf> parents_;
  const ManifestState inherited_;
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace ratchet::regionserver
