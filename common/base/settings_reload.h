// A server's reaction to SIGHUP and UpdateConfiguration: reads the settings again and logs the changes.
// The level of the log is such a setting.
#pragma once

#include <functional>
#include <string_view>

#include "common/base/config.h"
#include "common/base/log.h"
#include "common/base/result.h"

namespace ratchet {

// `asked_by`: "SIGHUP", "UpdateConfiguration". The log has a line for each setting that changed and for each that needs
// a restart. An error (kInvalidArgument) has changed nothing, and is logged too. `told`: for another record of it.
// Thread-safe.
using ReloadTold = std::function<void(std::string_view asked_by, const Result<ReloadReport>& report)>;
[[nodiscard]] Status ReloadSettings(Settings& settings, std::string_view asked_by, const ReloadTold& told);

// The values of the setting log-level: "debug", "info", "warn", "error"; kInfo for all other texts, which the setting
// does not allow.
[[nodiscard]] LogLevel LogLevelOf(std::string_view name);

}  // namespace ratchet
