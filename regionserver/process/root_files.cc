#include "regionserver/process/root_files.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/cluster_id.h"
#include "common/io/fenced_directory.h"
#include "common/model/name_rules.h"

namespace ratchet::regionserver {
namespace {

template <class T>
Result<T> Await(Result<T> (*read)(io::Directory& root), const char* file, io::Directory& root, Clock& clock,
                Millis limit, const std::function<bool(Millis pause)>& wait) {
  const TimePoint deadline = clock.Now() + limit;
  bool told = false;
  while (true) {
    auto text = read(root);
    if (text.ok() || text.error().code() != Code::kNotFound) return text;
    if (!told) RATCHET_LOG(kInfo, "Waiting for the first master to write {}/{}", root.path(), file);
    told = true;
    if (clock.Now() >= deadline) {
      return Error(Code::kTimeout, fmt::format("no master has written {}/{} within {} ms; is --root right?",
                                               root.path(), file, limit.count()));
    }
    if (wait(Millis(50))) return Error(Code::kAborted, "stopped while waiting for the first master");
  }
}

}  // namespace

Result<std::uint64_t> ChooseStartCode(io::Directory& wals, const std::string& host, std::uint16_t port,
                                      std::int64_t now_ms) {
  RATCHET_ASSIGN(const auto names, wals.List());
  const std::string prefix = fmt::format("{},{},", host, port);
  auto start_code = static_cast<std::uint64_t>(std::max<std::int64_t>(now_ms, 1));
  for (std::string_view name : names) {
    if (!name.starts_with(prefix) || RATCHET_MUTANT("regionserver.clock_start_code")) continue;
    name.remove_prefix(prefix.size());
    if (name.ends_with(io::kSplittingSuffix)) name.remove_suffix(std::string_view(io::kSplittingSuffix).size());
    std::uint64_t known = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), known);
    if (error != std::errc{} || end != name.data() + name.size()) continue;  // not a server's directory
    // not a valid start code; it must not bar the address
    if (known >= kMaxStartCode) continue;
    start_code = std::max(start_code, known + 1);
  }
  return start_code;
}

Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                   const std::function<bool(Millis pause)>& wait) {
  return Await(io::ReadClusterId, io::kClusterIdFile, root, clock, limit, wait);
}

Result<io::ClusterKeys> AwaitClusterKeys(io::Directory& root, Clock& clock, Millis limit,
                                         const std::function<bool(Millis pause)>& wait) {
  return Await(io::ReadClusterKeys, io::kClusterKeyFile, root, clock, limit, wait);
}

Status ProveEpoch(io::Directory& root, Epoch claimed) {
  const std::string name = fmt::format("claim.{}", claimed.value());
  const std::string what = fmt::format("looking for the claim of epoch {}", claimed);
  const auto in_root = root.Exists(name);
  if (!in_root.ok()) return in_root.error().Annotate(what);
  if (*in_root || RATCHET_MUTANT("regionserver.unproven_epoch")) return Ok();
  // A master of version 0.1 puts its claim only into procedures/ (docs/releases.md).
  const auto store = root.OpenDir("procedures");
  if (!store.ok()) return store.error().Annotate(what);
  const auto in_store = (*store)->Exists(name);
  if (!in_store.ok()) return in_store.error().Annotate(what);
  if (*in_store) return Ok();
  return Error(Code::kStale, fmt::format("no master has claimed epoch {}", claimed));
}

}  // namespace ratchet::regionserver
