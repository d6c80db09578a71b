// Copies a damaged file before anything is changed.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::procedure {

// Copies `name` into `quarantine` under the same name, or name.1, name.2, ... when taken; durable. Returns the copy's
// path.
[[nodiscard]] Result<std::string> QuarantineCopy(io::Directory& from, const std::string& name,
                                                 io::Directory& quarantine);

}  // namespace ratchet::procedure
