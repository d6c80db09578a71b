#include "common/io/cluster_id.h"

#include <algorithm>

#include <fmt/format.h>

namespace ratchet::io {
namespace {

constexpr std::size_t kMostIdBytes = 128;
constexpr std::uint64_t kMostIdFileBytes = 4096;

}  // namespace

Result<std::string> ReadClusterId(Directory& root) {
  RATCHET_ASSIGN(const std::string text, root.ReadAll(kClusterIdFile, kMostIdFileBytes));
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::string id = text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
  const bool printable = std::all_of(id.begin(), id.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (!id.empty() && printable && id.size() <= kMostIdBytes) return id;
  return Error(Code::kCorruption,
               fmt::format("{}/{} {}: write the cluster's id into this file as its only line; the node hbaseid in "
                           "ZooKeeper has the same id",
                           root.path(), kClusterIdFile, id.empty() ? "is empty" : "is not a valid id"));
}

}  // namespace ratchet::io
