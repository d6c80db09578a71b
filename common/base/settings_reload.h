// A server's reaction to SIGHUP and UpdateConfiguration: reads the settings again and logs the changes.
#pragma once

#include <string_view>

#include "common/base/config.h"
#include "common/base/result.h"

namespace ratchet {

// `asked_by`: "SIGHUP", "UpdateConfiguration". The log has a line for each setting that changed and for each that needs
// a restart. An error (kInvalidArgument) has changed nothing, and is logged too. Thread-safe.
[[nodiscard]] Status ReloadSettings(Settings& settings, std::string_view asked_by);

}  // namespace ratchet
