#include "master/rpc/pattern.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/rpc/exceptions.h"

namespace ratchet::master {

Result<Pattern> Pattern::Compile(const std::string& text) {
  constexpr std::size_t kMaxPatternBytes = 1000;
  constexpr std::int64_t kMaxProgramBytes = 1 << 20;
  if (text.size() > kMaxPatternBytes) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("the pattern has {} bytes; the limit is {}", text.size(), kMaxPatternBytes));
  }
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kMaxProgramBytes);
  auto regex = std::make_shared<const RE2>(text, options);
  if (!regex->ok()) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("cannot read the pattern '{}': {}", text, regex->error()));
  }
  return Pattern(std::move(regex));
}

bool Pattern::Matches(std::string_view text) const {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *regex_);
}

}  // namespace ratchet::master
