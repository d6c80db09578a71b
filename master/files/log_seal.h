// Measuring a dead server's logs, so that everybody who splits them reads the same bytes (PROTOCOL S3, S26).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "master/env/orders.h"

namespace ratchet::master {

// `directory`: a fenced server's. Syncs the directory and each log, then reads and measures it. Logs without a valid
// file header hold nothing that was ever acknowledged and are left out, and so are those that manifests cover (S32).
// kCorruption names file and offset; kNotFound: a log went away meanwhile, look again.
[[nodiscard]] Result<std::vector<SealedLog>> SealDirectory(io::Directory& directory);

// After everything sealed was split: cuts what was only preallocated. A sealed log keeps exactly what was sealed, a log that has
// not even a header nothing; others stay as they are. `check`: the epoch CHECK, before each change.
[[nodiscard]] Status GiveBackUnusedSpace(io::Directory& directory, const std::vector<SealedLog>& sealed,
                                         const std::function<Status()>& check);

}  // namespace ratchet::master
