#include "regionserver/process/cluster_id.h"

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/io/cluster_id.h"
#include "common/io/cluster_key.h"

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

Result<std::string> AwaitClusterId(io::Directory& root, Clock& clock, Millis limit,
                                   const std::function<bool(Millis pause)>& wait) {
  return Await(io::ReadClusterId, io::kClusterIdFile, root, clock, limit, wait);
}

Result<io::ClusterKeys> AwaitClusterKeys(io::Directory& root, Clock& clock, Millis limit,
                                         const std::function<bool(Millis pause)>& wait) {
  return Await(io::ReadClusterKeys, io::kClusterKeyFile, root, clock, limit, wait);
}

}  // namespace ratchet::regionserver
