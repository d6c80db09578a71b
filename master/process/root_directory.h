// First checks of --root: whether it is usable, and to which cluster it belongs.
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

// Opens --root. It must exist, so that a mistyped path is not created. Any error means that it cannot be used.
[[nodiscard]] Result<std::unique_ptr<io::Directory>> OpenRoot(io::Disk& disk, const std::string& path);

// The id in <root>/cluster.id, empty if it is not written yet, and whether a master has ever used this root.
struct RootState {
  std::string cluster_id;
  bool history = false;
};
[[nodiscard]] Result<RootState> ReadRootState(io::Directory& root);

// Makes and removes a file, under names in two directories, and runs the short form of ratchet-storage-check, so that a
// standby also detects at its start that it cannot work there. kFailedPrecondition: the storage is unfit, or does not
// support hard links between directories (S44: own name for each file).
Status ProbeWritable(io::Directory& root, std::uint64_t seed, const Clock& clock);

// Reads <root>/cluster.id; writes it with `fresh` if it is missing. The file is written once and never changes. If
// several masters write at the same time, all return the same id.
[[nodiscard]] Result<std::string> EnsureClusterId(io::Directory& root, const std::string& fresh);

// Returns a random UUID as text.
[[nodiscard]] std::string NewClusterId(std::uint64_t seed);

}  // namespace ratchet::master
