// Checks for programmer errors. They stay on in release builds: a broken invariant stops the process before it can
// acknowledge anything.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace ratchet {

// Prints `expression`, place and `message` to stderr and aborts.
[[noreturn]] void FailCheck(std::string_view expression, const char* file, int line, const std::string& message);

}  // namespace ratchet

// RATCHET_CHECK(condition, "format {}", args...)
#define RATCHET_CHECK(condition, ...)                                                   \
  do {                                                                                  \
    if (!(condition)) [[unlikely]]                                                      \
      ::ratchet::FailCheck(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)
