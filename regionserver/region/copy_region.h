// Copies of one region: into a snapshot, as a part of it, and out of a snapshot, as a region of another table (S44,
// S46). The copy gets names of its own for the files, and a first manifest; nothing else is written.
//
// A part comes from the region that is open on this server (Region::CopyTo), or from a manifest that ends with CLOSED;
// never from the newest manifest of a region that awaits its server's logs.
//
// Threads: any; waits for the disk. The directories are the caller's.
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
  std::uint64_t number = 0;  // of every name that is given: the order's pid
  RegionInfo region;
  io::Directory* directory = nullptr;      // made by the master
  std::vector<FamilyDescriptor> families;  // of the copy's table
};

struct CopyReport {
  // Why there is no copy: the source is not what the caller takes it for, and has to be looked at again. Empty: the
  // copy is there, durably.
  std::string not_ready;
  std::uint64_t sequence = 0;  // all that the copy holds is at or below it
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Of a region that is at rest. It is not sealed: should it be opened meanwhile, what is written to it then was
// acknowledged after the copy was asked for. kNotFound: a file has gone, so read again. The caller CHECKs before it
// answers.
[[nodiscard]] Result<CopyReport> CopyClosedRegion(const RegionInfo& source, io::Directory& directory,
                                                  const RegionPast& past, const CopyTarget& target);
// Of a part of a snapshot, whose manifest is manifest.<part>. Nothing ever changes it.
[[nodiscard]] Result<CopyReport> CopyPart(const RegionInfo& source, io::Directory& directory, std::uint64_t part,
                                          const CopyTarget& target);
// Of what `state` says.
[[nodiscard]] Result<CopyReport> CopyState(const RegionInfo& source, io::Directory& directory, ManifestState state,
                                           const CopyTarget& target);

}  // namespace ratchet::regionserver
