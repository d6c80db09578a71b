// The empty file by which an operator accepts a loss: "accepted.<what>", in the directory that has lost something.
//
//   <log directory>/accepted.log.0000000003   continue without this log (S119: made logs are required)
//   <region directory>/accepted.7             open the region with the state of manifest.7, an older copy
//                                             (S118: older copy stays closed)
//
// Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

inline constexpr std::string_view kAcceptedPrefix = "accepted.";

[[nodiscard]] inline std::string AcceptedMark(std::string_view what) {
  return std::string(kAcceptedPrefix).append(what);
}

}  // namespace ratchet
