#include "common/io/cluster_key.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/prng.h"
#include "common/io/fatal.h"

namespace ratchet::io {
namespace {

constexpr std::size_t kLeastKeyBytes = 16;
constexpr std::size_t kMostKeyBytes = 256;
constexpr std::uint64_t kMostKeyFileBytes = 4096;  // maximum size of the key's file; more is not read

Status WritePrivate(Directory& root, const std::string& name, std::string_view content) {
  RATCHET_ASSIGN(const auto file, CreatePrivate(root, name));
  RATCHET_TRY(file->Append(content));
  const Status synced = file->Sync();
  return DieOnFailedSync(synced, name) ? Ok() : synced;
}

}  // namespace

std::string NewClusterKey() { return fmt::format("{:016x}{:016x}", RandomSeed(), RandomSeed()); }

Result<std::string> ReadClusterKey(Directory& root) {
  RATCHET_ASSIGN(std::string key, root.ReadAll(kClusterKeyFile, kMostKeyFileBytes));
  while (!key.empty() && (key.back() == '\n' || key.back() == ' ')) key.pop_back();
  const bool printable = std::all_of(key.begin(), key.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (!printable || key.size() < kLeastKeyBytes || key.size() > kMostKeyBytes) {
    return Error(
        Code::kCorruption,
        fmt::format("{}/{} is not a key of {} to {} printable characters on one line: stop every process of the "
                    "cluster, and remove the file; the next master writes a new key",
                    root.path(), kClusterKeyFile, kLeastKeyBytes, kMostKeyBytes));
  }
  return key;
}

Result<std::string> EnsureClusterKey(Directory& root, const std::string& fresh) {
  RATCHET_ASSIGN(const bool there, root.Exists(kClusterKeyFile));
  if (!there) {
    // Completed under a temporary name, then published by a link, which only one of several processes can make.
    const std::string draft = fmt::format("{}.{:016x}", kClusterKeyFile, RandomSeed());
    RATCHET_TRY(WritePrivate(root, draft, fresh + "\n"));
    const Status linked = root.Link(draft, kClusterKeyFile);
    IgnoreResult(root.Unlink(draft), "a draft that stays does no harm");
    if (!linked.ok() && linked.error().code() != Code::kAlreadyExists) return linked.error();
  }
  const Status synced = root.Sync();
  if (!DieOnFailedSync(synced, root.path())) return synced.error();
  return ReadClusterKey(root);
}

}  // namespace ratchet::io
