// Verbs on snapshots.
#pragma once

#include <cstdint>
#include <string>

#include "common/tools/cli/commands.h"

namespace ratchet::cli {

struct SnapshotFlags {
  std::string table;
  std::string name;
  bool flush = true;
  std::int64_t ttl_seconds = 0;  // 0: until it is deleted
  bool wait = true;
};
int TakeSnapshot(Session& session, const SnapshotFlags& flags);
int ListSnapshots(Session& session);
// Asks for confirmation on a terminal, unless `yes`.
int DeleteSnapshot(Session& session, const std::string& name, bool yes);
// Restores into a table that does not exist yet.
int CloneSnapshot(Session& session, const std::string& name, const std::string& table, bool wait);
// Restores into the table of the snapshot, or into `table`; it must be disabled. Asks for confirmation on a terminal,
// unless `yes`.
int RestoreSnapshot(Session& session, const std::string& name, const std::string& table, bool wait, bool yes);

// Copies to and from a directory on the masters' machines. An empty name: the one that it was exported with.
int ExportSnapshot(Session& session, const std::string& name, const std::string& directory, bool wait);
int ImportSnapshot(Session& session, const std::string& directory, const std::string& name, bool wait);

}  // namespace ratchet::cli
