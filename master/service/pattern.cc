#include "master/service/pattern.h"

#include <cstddef>

#include <fmt/format.h>

#include "common/rpc/exceptions.h"

namespace ratchet::master {

Result<std::regex> CompilePattern(const std::string& text) {
  constexpr std::size_t kMostPatternBytes = 1000;
  if (text.size() > kMostPatternBytes) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("a pattern longer than {} bytes", kMostPatternBytes));
  }
  try {
    return std::regex(text, std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("cannot read the pattern '{}': {}", text, error.what()));
  }
}

}  // namespace ratchet::master
