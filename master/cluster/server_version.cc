#include "master/cluster/server_version.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "master/cluster/errors.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kConstantOfTheFirst = "2.6.0-ratchet";
constexpr ServerVersion kTheFirst{0, 1, 0};

}  // namespace

std::optional<ServerVersion> ParseServerVersion(std::string_view text) {
  if (text == kConstantOfTheFirst) return kTheFirst;
  text = text.substr(0, text.find_first_of("-+~"));
  ServerVersion version;
  std::uint32_t* const parts[] = {&version.major, &version.minor, &version.patch};
  for (std::uint32_t* part : parts) {
    const std::string_view number = text.substr(0, text.find('.'));
    const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), *part);
    if (failed != std::errc() || end != number.data() + number.size()) return std::nullopt;
    if (number.size() == text.size()) return version;
    text.remove_prefix(number.size() + 1);
  }
  return std::nullopt;  // a fourth number
}

Status CheckServerVersion(const ServerName& server, std::string_view version, std::string_view oldest) {
  const auto bound = ParseServerVersion(oldest);
  if (!bound)
    return IllegalRequest(fmt::format("the master's oldest-server-version '{}' is not a valid version", oldest));
  const auto is = ParseServerVersion(version);
  if (is && *is >= *bound) return Ok();
  return IllegalRequest(
      fmt::format("region server {} has version '{}', but this master requires {} or newer: install a newer "
                  "ratchet-regionserver, or lower the master's setting oldest-server-version",
                  server.ToString(), version, oldest));
}

std::vector<ServerName> NewestOf(const std::vector<VersionedServer>& servers, const std::vector<ServerName>& avoid) {
  const auto avoided = [&avoid](const VersionedServer& each) {
    return std::find(avoid.begin(), avoid.end(), each.server) != avoid.end();
  };
  const bool any = std::any_of(servers.begin(), servers.end(), [&](const auto& each) { return !avoided(each); });
  std::optional<ServerVersion> newest;
  std::vector<ServerName> found;
  for (const VersionedServer& each : servers) {
    if (any && avoided(each)) continue;
    const auto version = ParseServerVersion(each.version);
    if (version > newest) found.clear();
    newest = std::max(newest, version);
    if (version == newest) found.push_back(each.server);
  }
  return found;
}

}  // namespace ratchet::master
