// Small files that are read as a whole: 4 bytes CRC32C of the rest (little-endian), then the rest.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::master {

[[nodiscard]] std::string WithChecksum(std::string_view content);
// Returns the part of `bytes` after the checksum. kCorruption: checksum mismatch; `what` names the file in the error.
[[nodiscard]] Result<std::string_view> CheckedContent(std::string_view bytes, std::string_view what);

}  // namespace ratchet::master
