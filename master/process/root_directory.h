// The first look at --root: can it be used, and whose is it?
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::master {

// kFailedPrecondition for a file system whose renames and exclusive creations are not coherent between machines (NFS).
Status CheckFileSystem(const std::string& root);

// Opens --root, which an administrator has made: a mistyped one is not made. Any error: it cannot be used.
[[nodiscard]] Result<std::unique_ptr<io::Directory>> OpenRoot(io::Disk& disk, const std::string& path);

// The id in <root>/cluster.id, empty when it is not written yet, and whether a master has ever worked here.
struct RootState {
  std::string cluster_id;
  bool history = false;
};
[[nodiscard]] Result<RootState> ReadRootState(io::Directory& root);

// Makes and removes a file, under names in two directories, and does the short form of ratchet-storage-check: a standby
// too must find out at its start that it could not work there. kFailedPrecondition: the storage is unfit, or has no
// hard links between directories (S44).
Status ProbeWritable(io::Directory& root, std::uint64_t seed, const Clock& clock);

// Reads <root>/cluster.id; writes it, once and for ever, when it is missing. Several masters may do so at the same
// time: all return the same id. `fresh` is used if it has to be written.
[[nodiscard]] Result<std::string> EnsureClusterId(io::Directory& root, const std::string& fresh);

// A random UUID as text.
[[nodiscard]] std::string NewClusterId(std::uint64_t seed);

}  // namespace ratchet::master
