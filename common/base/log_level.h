// The values of the setting log-level. Pure.
#pragma once

#include <string_view>

#include "common/base/log.h"

namespace ratchet {

// "debug", "info", "warn", "error"; kInfo for all other texts, which the setting does not allow.
[[nodiscard]] LogLevel LogLevelOf(std::string_view name);

}  // namespace ratchet
