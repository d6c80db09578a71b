// Log lines: time, level, thread, message. Only log.cc includes spdlog, so that this header stays cheap.
//
// RATCHET_LOG(kInfo, "pid={}, ppid={}, state={}; {}", ...). Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

#include "common/base/result.h"

namespace ratchet {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  std::string file;  // empty: standard error
};

// Before OpenLog is called, lines go to standard error at level kInfo. May be called again. kIo: the file cannot be
// opened; lines go where they went before.
[[nodiscard]] Status OpenLog(const LogOptions& options);
// Like OpenLog, but never fails: an error of a file is logged.
void ConfigureLog(const LogOptions& options);
// Applies from now on, also to a log that is opened again.
void SetLogLevel(LogLevel level);
// Opens the file of the last OpenLog again, by its name: a rotation has moved the old one away. On failure as OpenLog.
[[nodiscard]] Status ReopenLog();
// For SIGHUP: calls ReopenLog and writes a line to the new file, or to the old one on failure.
void ReopenLogOnRequest();
[[nodiscard]] bool LogEnabled(LogLevel level);
void LogLine(LogLevel level, std::string_view line);
void FlushLog();

}  // namespace ratchet

#define RATCHET_LOG(level, ...)                                                   \
  do {                                                                            \
    if (::ratchet::LogEnabled(::ratchet::LogLevel::level))                        \
      ::ratchet::LogLine(::ratchet::LogLevel::level, ::fmt::format(__VA_ARGS__)); \
  } while (false)
