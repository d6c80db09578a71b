#include "master/cluster/snapshot_export.h"

#include <algorithm>

#include <fmt/format.h>

#include "master/cluster/errors.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kLongestPlace = 3'000;  // in bytes; a path of the operating system has at most 4,095

bool IsPlainPath(std::string_view path) {
  if (path.size() < 2 || path.size() > kLongestPlace || path.front() != '/') return false;
  if (path.find('\0') != std::string_view::npos) return false;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view part = path.substr(at + 1, end - at - 1);
    if (part.empty() || part == "." || part == "..") return false;
    at = end;
  }
  return true;
}

}  // namespace

Status CheckExportPlace(std::string_view allowed, std::string_view place) {
  if (allowed.empty()) {
    return IllegalRequest(
        "exports and imports of snapshots are disabled: set --snapshot-export-dir of the masters to a directory");
  }
  while (allowed.size() > 1 && allowed.back() == '/') allowed.remove_suffix(1);
  const bool below = place.size() > allowed.size() + 1 && place.starts_with(allowed) && place[allowed.size()] == '/';
  if (IsPlainPath(allowed) && IsPlainPath(place) && below) return Ok();
  return IllegalRequest(fmt::format(
      "{} is not an absolute path without . and .. below {} (--snapshot-export-dir of the masters)", place, allowed));
}

}  // namespace ratchet::master
