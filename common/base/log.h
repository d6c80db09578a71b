// Log lines: time, level, thread, message. Only log.cc sees spdlog, so that this header stays cheap.
//
// RATCHET_LOG(kInfo, "pid={}, ppid={}, state={}; {}", ...). Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace ratchet {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  std::string file;  // empty: standard error
};

// Before it is called, lines go to standard error at level kInfo. May be called again.
void ConfigureLog(const LogOptions& options);
[[nodiscard]] bool LogEnabled(LogLevel level);
void LogLine(LogLevel level, std::string_view line);
void FlushLog();

}  // namespace ratchet

#define RATCHET_LOG(level, ...)                                                        \
  do {                                                                                 \
    if (::ratchet::LogEnabled(::ratchet::LogLevel::level))                             \
      ::ratchet::LogLine(::ratchet::LogLevel::level, ::fmt::format(__VA_ARGS__));      \
  } while (false)
