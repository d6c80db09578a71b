#include "common/base/log.h"

#include <memory>
#include <utility>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/base/thread_name.h"

namespace ratchet {
namespace {

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
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
  logger->flush_on(spdlog::level::info);  // a killed process must leave its last words
  return logger;
}

std::shared_ptr<spdlog::logger>& Current() {
  static std::shared_ptr<spdlog::logger> logger = MakeLogger({});
  return logger;
}

}  // namespace

void ConfigureLog(const LogOptions& options) { std::atomic_store(&Current(), MakeLogger(options)); }

bool LogEnabled(LogLevel level) { return std::atomic_load(&Current())->should_log(ToSpdlog(level)); }

void LogLine(LogLevel level, std::string_view line) {
  std::atomic_load(&Current())->log(ToSpdlog(level), "[{}] {}", ThreadName(), line);
}

void FlushLog() { std::atomic_load(&Current())->flush(); }

}  // namespace ratchet
