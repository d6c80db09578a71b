// Copies the files of one region of a snapshot to an export or back, with checksums.
//
// Files are copied under another name first and renamed once they are complete and durable, so an interrupted copy
// leaves no partial file under its name; several processes may copy the same files at once. Existing files are compared
// by length and checksum and kept. The list of a region's files, with lengths and checksums, is written when all files
// are complete.
//
// `check` runs before each name is made and at each chunk of bytes; its error ends the work. Blocks for the disk.
// Threads: any.
#pragma once

#include <functional>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

inline constexpr const char* kExportList = "files.list";  // list of one region: a checksum, then one file per line

// `part`: part of a complete snapshot, which does not change. After an error a repetition checks everything again.
[[nodiscard]] Result<CopiedFiles> ExportRegionFiles(io::Directory& part, io::Directory& target,
                                                    const std::function<Status()>& check);
// kCorruption: a file does not match the list, or the list is invalid.
[[nodiscard]] Result<CopiedFiles> ImportRegionFiles(io::Directory& source, io::Directory& part,
                                                    const std::function<Status()>& check);

}  // namespace ratchet::master
