// Versions of region servers: comparison, minimum version, and the servers with the newest version. Pure.
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

// Parses "1", "1.2" or "1.2.3", and ignores everything after a "-", "+" or "~". Servers of version 0.1 report
// "2.6.0-ratchet", which is parsed as 0.1. Returns nullopt for a text of another form.
[[nodiscard]] std::optional<ServerVersion> ParseServerVersion(std::string_view text);

// kFailedPrecondition (DoNotRetryIOException): `version` is below `oldest` or cannot be parsed. The message has the
// next action.
[[nodiscard]] Status CheckServerVersion(const ServerName& server, std::string_view version, std::string_view oldest);

struct VersionedServer {
  ServerName server;
  std::string version;  // as reported; an invalid version counts as older than any other
};

// Returns the servers for hbase:meta and system tables: those with the newest version among `servers` without `avoid`,
// or among all `servers` if none remains. Keeps the given order.
[[nodiscard]] std::vector<ServerName> NewestOf(const std::vector<VersionedServer>& servers,
                                               const std::vector<ServerName>& avoid);

}  // namespace ratchet::master
