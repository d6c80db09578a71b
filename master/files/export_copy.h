// The files of one region of a snapshot, copied to an export or back, with checksums.
//
// Files are copied under another name first and renamed once they are whole and durable, so that a copy that was cut
// short leaves no half file under its name; several may copy the same files at once. What is there already is compared
// by length and checksum and kept. The list of a region's files, with lengths and checksums, is written when all of
// them are there.
//
// `check` runs before each name is made and at each chunk of bytes; its error ends the work. Blocks for the disk.
// Threads: any.
#pragma once

#include <functional>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

inline constexpr const char* kExportList = "files.list";  // of one region; one file a line, behind a checksum

// `part`: of a complete snapshot, which does not change. An error leaves nothing that a repetition would trust.
[[nodiscard]] Result<CopiedFiles> ExportRegionFiles(io::Directory& part, io::Directory& target,
                                                    const std::function<Status()>& check);
// kCorruption: a file is not what the list says, or the list is none.
[[nodiscard]] Result<CopiedFiles> ImportRegionFiles(io::Directory& source, io::Directory& part,
                                                    const std::function<Status()>& check);

}  // namespace ratchet::master
