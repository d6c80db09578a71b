#include "common/io/cluster_key.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/prng.h"
#include "common/io/fatal.h"
#include "common/io/root_access.h"

namespace ratchet::io {
namespace {

constexpr std::size_t kLeastKeyBytes = 16;
constexpr std::size_t kMostKeyBytes = 256;
constexpr std::size_t kMostKeys = 2;
constexpr std::uint64_t kMostKeyFileBytes = 4096;  // maximum size of the key's file; more is not read

bool IsKey(const std::string& text) {
  const bool printable = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  return printable && text.size() >= kLeastKeyBytes && text.size() <= kMostKeyBytes;
}

Status WritePrivate(Directory& root, const std::string& name, std::string_view content) {
  RATCHET_ASSIGN(const auto file, CreatePrivate(root, name));
  RATCHET_TRY(file->Append(content));
  const Status synced = file->Sync();
  return DieOnFailedSync(synced, name) ? Ok() : synced;
}

}  // namespace

std::string NewClusterKey() {
  return fmt::format("{}{:016x}{:016x}{:016x}{:016x}", kProofKeyPrefix, RandomSeed(), RandomSeed(), RandomSeed(),
                     RandomSeed());
}

Result<ClusterKeys> ReadClusterKeys(Directory& root) {
  RATCHET_ASSIGN(const std::string text, root.ReadAll(kClusterKeyFile, kMostKeyFileBytes));
  RATCHET_TRY(CheckSecretFile(root, kClusterKeyFile));
  ClusterKeys keys;
  bool valid = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string key = text.substr(at, end - at);
    at = end + 1;
    while (!key.empty() && key.back() == ' ') key.pop_back();
    if (key.empty()) continue;
    valid = valid && IsKey(key);
    keys.push_back(std::move(key));
  }
  if (valid && !keys.empty() && keys.size() <= kMostKeys) return keys;
  return Error(
      Code::kCorruption,
      fmt::format("{}/{} is not a key of {} to {} printable characters on one line, or two such keys on two lines: "
                  "restore it; or stop every process of the cluster, and remove the file; the next master writes a new "
                  "key",
                  root.path(), kClusterKeyFile, kLeastKeyBytes, kMostKeyBytes));
}

Result<ClusterKeys> EnsureClusterKeys(Directory& root, const ClusterKeys& fresh) {
  RATCHET_ASSIGN(const bool there, root.Exists(kClusterKeyFile));
  if (!there) {
    std::string text;
    for (const std::string& key : fresh) text += key + "\n";
    // Completed under a temporary name, then published by a link, which only one of several processes can make.
    const std::string draft = fmt::format("{}.{:016x}", kClusterKeyFile, RandomSeed());
    RATCHET_TRY(WritePrivate(root, draft, text));
    const Status linked = root.Link(draft, kClusterKeyFile);
    IgnoreResult(root.Unlink(draft), "a draft that stays does no harm");
    if (!linked.ok() && linked.error().code() != Code::kAlreadyExists) return linked.error();
  }
  const Status synced = root.Sync();
  if (!DieOnFailedSync(synced, root.path())) return synced.error();
  return ReadClusterKeys(root);
}

Result<ClusterKeys> ReadOrRestoreClusterKeys(Directory& root, const ClusterKeys& lost) {
  auto found = ReadClusterKeys(root);
  if (found.ok() || found.error().code() != Code::kNotFound) return found;
  return EnsureClusterKeys(root, lost);
}

}  // namespace ratchet::io
