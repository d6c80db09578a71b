// Versions of region servers: how they compare, which are too old, and which servers have the newest. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::master {

struct ServerVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;
  auto operator<=>(const ServerVersion&) const = default;
};

// "1", "1.2" or "1.2.3", also with more behind a "-" or "+", which does not count. Every server of version 0.1 said
// "2.6.0-ratchet", and is read as 0.1. Nothing: text of another form.
[[nodiscard]] std::optional<ServerVersion> ParseServerVersion(std::string_view text);

// kFailedPrecondition (DoNotRetryIOException): `version` is below `oldest`, or is none; the message says what to do.
[[nodiscard]] Status CheckServerVersion(const ServerName& server, std::string_view version, std::string_view oldest);

struct VersionedServer {
  ServerName server;
  std::string version;  // as it reported; one that cannot be read counts as older than any other
};

// Where hbase:meta and the system's tables go: those of `servers` that have the newest version among the ones that are
// not in `avoid`; without any such, among all of them. In the given order.
[[nodiscard]] std::vector<ServerName> NewestOf(const std::vector<VersionedServer>& servers,
                                               const std::vector<ServerName>& avoid);

}  // namespace ratchet::master
