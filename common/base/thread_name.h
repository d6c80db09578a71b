// Names the calling thread, so that log lines and debuggers show the part of the process.
#pragma once

#include <string>

namespace ratchet {

// `name`: kept whole for log lines; the kernel shows its first 15 bytes.
void SetThreadName(const std::string& name);
[[nodiscard]] const std::string& ThreadName();

}  // namespace ratchet
