// Copies of one region: into a snapshot, as a part of it, and out of a snapshot, as a region of another table (S44: own
// name for each file; S46: source of a snapshot part). The copy gets hard links to the files, and a first manifest;
// nothing else is written.
//
// A part comes from the region that is open on this server (Region::CopyTo), or from a manifest that ends with CLOSED;
// never from the newest manifest of a region that awaits its server's logs.
//
// Threads: any; waits for the disk. The caller owns the directories.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/model/region_info.h"
#include "common/model/table_descriptor.h"
#include "regionserver/store/manifest.h"

namespace ratchet::regionserver {

struct CopyTarget {
  std::uint64_t number = 0;  // part of every new name: the order's pid
  RegionInfo region;
  io::Directory* directory = nullptr;      // the copy's directory, created by the master
  std::vector<FamilyDescriptor> families;  // families of the copy's table
};

struct CopyReport {
  // The reason why there is no copy: the source is not in the expected state, and must be looked at again. Empty: the
  // copy exists and is durable.
  std::string not_ready;
  std::uint64_t sequence = 0;  // upper bound of the copy's sequences
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Copies a region that is at rest. The source is not sealed: if it is opened meanwhile, its new writes were
// acknowledged after the copy was requested. kNotFound: a file is gone, so read the source again. The caller CHECKs
// before it answers.
[[nodiscard]] Result<CopyReport> CopyClosedRegion(const RegionInfo& source, io::Directory& directory,
                                                  const RegionPast& past, const CopyTarget& target);
// Copies a part of a snapshot, whose manifest is manifest.<part>. A part never changes.
[[nodiscard]] Result<CopyReport> CopyPart(const RegionInfo& source, io::Directory& directory, std::uint64_t part,
                                          const CopyTarget& target);
// Copies the files that `state` names.
[[nodiscard]] Result<CopyReport> CopyState(const RegionInfo& source, io::Directory& directory, ManifestState state,
                                           const CopyTarget& target);

}  // namespace ratchet::regionserver
