// Units of a client, as a server cuts them: a length of 4 bytes, then that many bytes.
#pragma once

#include <optional>
#include <string_view>

#include "common/rpc/frame.h"

namespace ratchet::fuzz {

// Cuts off the first unit; nullopt: it is not complete.
inline std::optional<std::string_view> CutUnit(std::string_view& bytes) {
  if (bytes.size() < 4 || rpc::ReadBig32(bytes) > bytes.size() - 4) return std::nullopt;
  const std::string_view unit = bytes.substr(4, rpc::ReadBig32(bytes));
  bytes.remove_prefix(4 + unit.size());
  return unit;
}

}  // namespace ratchet::fuzz
