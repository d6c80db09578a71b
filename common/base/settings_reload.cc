#include "common/base/settings_reload.h"

namespace ratchet {

Status ReloadSettings(Settings& settings, std::string_view asked_by, const ReloadTold& told) {
  const auto report = settings.Reload();
  told(asked_by, report);
  if (!report.ok()) {
    RATCHET_LOG(kError, "{}: no setting is changed: {}", asked_by, report.error().message());
    return report.error();
  }
  for (const std::string& changed : report->changed) RATCHET_LOG(kInfo, "{}: setting {}", asked_by, changed);
  for (const std::string& stays : report->need_restart) RATCHET_LOG(kWarn, "{}: setting {}", asked_by, stays);
  if (report->changed.empty() && report->need_restart.empty())
    RATCHET_LOG(kInfo, "{}: settings are read again, nothing differs", asked_by);
  return Ok();
}

LogLevel LogLevelOf(std::string_view name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warn") return LogLevel::kWarn;
  if (name == "error") return LogLevel::kError;
  return LogLevel::kInfo;
}

}  // namespace ratchet
