#include "common/base/log.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/base/mutex.h"
#include "common/base/printable.h"
#include "common/base/thread_name.h"

namespace ratchet {
namespace {

// Bytes of one message; a longer one is cut.
constexpr std::size_t kMostLogLine = 16u << 10;
constexpr std::size_t kCutLogLine = kMostLogLine - 100;

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::shared_ptr<spdlog::logger> MakeLogger(const LogOptions& options) {
  spdlog::sink_ptr sink;
  if (options.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
  }
  auto logger = std::make_shared<spdlog::logger>("ratchet", std::move(sink));
  logger->set_level(ToSpdlog(options.level));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %L %v");
  logger->flush_on(spdlog::level::info);  // a killed process must leave its last lines
  return logger;
}

std::shared_ptr<spdlog::logger>& Current() {
  static std::shared_ptr<spdlog::logger> logger = MakeLogger({});
  return logger;
}

Mutex configuring;
LogOptions configured GUARDED_BY(configuring);

Status Install(const LogOptions& options) REQUIRES(configuring) {
  try {
    std::shared_ptr<spdlog::logger> made = MakeLogger(options);
    configured = options;
    std::atomic_store(&Current(), std::move(made));
  } catch (const spdlog::spdlog_ex& failed) {
    return Error(Code::kIo, failed.what());
  }
  return Ok();
}

}  // namespace

Status OpenLog(const LogOptions& options) {
  const MutexLock lock(configuring);
  return Install(options);
}

void ConfigureLog(const LogOptions& options) {
  const Status opened = OpenLog(options);
  if (!opened.ok()) RATCHET_LOG(kError, "cannot log to {}: {}", options.file, opened.error().message());
}

void SetLogLevel(LogLevel level) {
  const MutexLock lock(configuring);
  configured.level = level;
  std::atomic_load(&Current())->set_level(ToSpdlog(level));
}

Status ReopenLog() {
  const MutexLock lock(configuring);
  return Install(configured);
}

bool LogEnabled(LogLevel level) { return std::atomic_load(&Current())->should_log(ToSpdlog(level)); }

// Writes a NUL in a region's name, an end of line or a terminal's escape as \xHH: one message is one line, and text for
// every tool. A client that names something of 1 MiB gets no more of the disk than another one.
void LogLine(LogLevel level, std::string_view line) {
  if (line.size() > kMostLogLine)
    return LogLine(level, fmt::format("{} ({} bytes more)", line.substr(0, kCutLogLine), line.size() - kCutLogLine));
  const auto logger = std::atomic_load(&Current());
  if (std::all_of(line.begin(), line.end(), IsPrintable)) {
    logger->log(ToSpdlog(level), "[{}] {}", ThreadName(), line);
  } else {
    logger->log(ToSpdlog(level), "[{}] {}", ThreadName(), PrintableText(line));
  }
}

void ReopenLogOnRequest() {
  const Status reopened = ReopenLog();
  if (reopened.ok()) {
    RATCHET_LOG(kInfo, "SIGHUP: the log is opened again");
  } else {
    RATCHET_LOG(kError, "SIGHUP: the log cannot be opened again, continuing with the old file: {}",
                reopened.error().message());
  }
}

void FlushLog() { std::atomic_load(&Current())->flush(); }

}  // namespace ratchet
