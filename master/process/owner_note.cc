#include "master/process/owner_note.h"

#include <charconv>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "common/base/mutant.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kMaster = "client.master.";

std::string PrefixOf(Epoch epoch) { return fmt::format("{}{}.", kMaster, epoch); }

std::optional<std::uint64_t> EpochOf(std::string_view name) {
  if (!name.starts_with(kMaster)) return std::nullopt;
  name.remove_prefix(kMaster.size());
  std::uint64_t epoch = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), epoch);
  if (parsed.ec != std::errc()) return std::nullopt;
  return epoch;
}

}  // namespace

Result<std::vector<std::string>> EvictEarlierOwners(io::Directory& root, const std::optional<io::StorageClient>& own,
                                                    const Evict& evict) {
  RATCHET_ASSIGN(std::vector<std::string> names, root.List());
  std::set<Epoch, std::greater<>> epochs;  // newest owner first
  for (const std::string& name : names) {
    if (const auto epoch = EpochOf(name)) epochs.insert(Epoch(*epoch));
  }
  for (const Epoch epoch : epochs) {
    for (const io::StorageClient& earlier : io::NotedClients(names, PrefixOf(epoch))) {
      if (own && *own == earlier) continue;
      const Status evicted = evict(earlier);
      if (!evicted.ok() && !RATCHET_MUTANT("storage.fence_before_eviction")) return evicted.error();
    }
  }
  return names;
}

Status PrepareClaim(io::Directory& root, const std::vector<std::string>& names, Epoch highest,
                    const std::optional<io::StorageClient>& own) {
  for (const std::string& name : names) {
    const auto epoch = EpochOf(name);
    if (!epoch || *epoch >= highest.value()) continue;
    const Status forgotten = root.Unlink(name);  // another master may have removed it
    if (!forgotten.ok() && forgotten.error().code() != Code::kNotFound) return forgotten;
  }
  return own ? NoteClaim(root, highest.Next(), *own) : Ok();
}

Status NoteClaim(io::Directory& root, Epoch claimed, const io::StorageClient& own) {
  return io::NoteClient(root, PrefixOf(claimed), own);
}

}  // namespace ratchet::master
