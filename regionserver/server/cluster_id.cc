#include "regionserver/server/cluster_id.h"

#include <fmt/core.h>

#include "common/base/log.h"

namespace ratchet::regionserver {

Result<std::string> ReadClusterId(io::Directory& root) {
  RATCHET_ASSIGN(std::string text, root.ReadAll(kClusterIdFile));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    return Error(Code::kCorruption, fmt::format("{}/{} is empty", root.path(), kClusterIdFile));
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                   const std::function<bool(Millis pause)>& wait) {
  const TimePoint deadline = clock.Now() + limit;
  bool told = false;
  while (true) {
    auto id = ReadClusterId(root);
    if (id.ok() || id.error().code() != Code::kNotFound) return id;
    if (!told) RATCHET_LOG(kInfo, "Waiting for the first master to write {}/{}", root.path(), kClusterIdFile);
    told = true;
    if (clock.Now() >= deadline) {
      return Error(Code::kTimeout, fmt::format("no master has written {}/{} within {} ms; is --root right?",
                                               root.path(), kClusterIdFile, limit.count()));
    }
    if (wait(Millis(50))) return Error(Code::kAborted, "stopped while waiting for the first master");
  }
}

}  // namespace ratchet::regionserver
