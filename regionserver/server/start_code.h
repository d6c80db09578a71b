// The number that tells one run of a server on a host and port from all others (rule S5).
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// max(`now_ms`, greatest start code among the log directories of this host and port, fenced ones included, + 1), so
// that a clock that was set back never repeats a name. `wals`: <root>/wals.
[[nodiscard]] Result<std::uint64_t> ChooseStartCode(io::Directory& wals, const std::string& host, std::uint16_t port,
                                                    std::int64_t now_ms);

}  // namespace ratchet::regionserver
