// Rules for names that can be a file, a ZooKeeper node and a record at once. All names from a wire, a setting or a user
// are checked with these rules before they are used.
//
// A server's name is the same text everywhere: it is never changed to another spelling on the way, because a fence must
// meet the very directory that the server writes to. Programs write their own host name in lower case where they take
// it from a setting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet {

// File systems allow names of 255 bytes. A table's directory is "<namespace>/<qualifier>.<pid>".
inline constexpr std::size_t kMaxTableNamePartBytes = 220;
// A server's is "<host>,<port>,<start code>-splitting".
inline constexpr std::size_t kMaxHostBytes = 200;
// The last millisecond of the year 9999.
inline constexpr std::uint64_t kMaxStartCode = 253'402'300'799'999;

// The host has letters, digits, '.', '-', '_' and ':' only, begins with a letter, a digit or ':' and has at most
// kMaxHostBytes. kInvalidArgument gives the reason.
[[nodiscard]] Status CheckHost(std::string_view host);
// Checks the host, that the port is not 0, and that the start code is in 1..kMaxStartCode. ServerName::Parse and
// FromProto call this.
[[nodiscard]] Status CheckServerName(const ServerName& name);
[[nodiscard]] std::string LowerCaseHost(std::string host);

}  // namespace ratchet
