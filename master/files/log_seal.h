// Measuring a dead server's logs, so that everybody who splits them reads the same bytes (PROTOCOL S3, S26).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "master/env/orders.h"

namespace ratchet::master {

// True for "log.<n>" and "meta.<n>".
[[nodiscard]] bool IsServerLogName(std::string_view name, bool* meta);

// `directory`: a fenced server's. Syncs the directory and each log, then reads and measures it. Logs without a valid
// file header hold nothing that was ever acknowledged and are left out. kCorruption names file and offset.
[[nodiscard]] Result<std::vector<SealedLog>> SealDirectory(io::Directory& directory);

}  // namespace ratchet::master
