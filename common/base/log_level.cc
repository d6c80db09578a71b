#include "common/base/log_level.h"

namespace ratchet {

LogLevel LogLevelOf(std::string_view name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warn") return LogLevel::kWarn;
  if (name == "error") return LogLevel::kError;
  return LogLevel::kInfo;
}

}  // namespace ratchet
