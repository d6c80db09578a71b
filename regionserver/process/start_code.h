// The number that distinguishes the runs of a server on a host and port (S5: rising start code).
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

// Returns max(`now_ms`, greatest start code among the log directories of this host and port + 1), including fenced
// ones, so that a clock that was set back never repeats a name. `wals` is <root>/wals.
[[nodiscard]] Result<std::uint64_t> ChooseStartCode(io::Directory& wals, const std::string& host, std::uint16_t port,
                                                    std::int64_t now_ms);

}  // namespace ratchet::regionserver
