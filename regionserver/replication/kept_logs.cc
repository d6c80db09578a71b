#include "regionserver/replication/kept_logs.h"

#include <memory>

#include "common/io/fenced_directory.h"

namespace ratchet::regionserver {
namespace {

Result<bool> IsIn(io::Directory& root, const char* folder, const std::string& name) {
  const Result<std::unique_ptr<io::Directory>> opened = root.OpenDir(folder);
  if (!opened.ok() && opened.error().code() == Code::kNotFound) return false;
  if (!opened.ok()) return opened.error();
  return (*opened)->Exists(name);
}

}  // namespace

// Looks in the order in which logs move: logs that are not in one place cannot appear in an earlier one later.
Result<bool> LogsAreGone(io::Directory& root, const std::string& server) {
  RATCHET_ASSIGN(const bool alive, IsIn(root, kLogsFolder, server));
  if (alive) return false;
  RATCHET_ASSIGN(const bool fenced, IsIn(root, kLogsFolder, server + io::kSplittingSuffix));
  if (fenced) return false;
  RATCHET_ASSIGN(const bool kept, IsIn(root, kKeptLogsFolder, server));
  return !kept;
}

}  // namespace ratchet::regionserver
