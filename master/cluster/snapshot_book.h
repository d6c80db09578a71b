// Snapshots: unfinished ones in memory, and complete ones on storage.
//
// SnapshotBook has the holds of S45 (snapshot hold): while a snapshot is unfinished, split and merge of its table are
// refused. Rebuilt after a restart from the unfinished procedures, before any worker runs. NotHeld
// (procedures/snapshot/snapshot.h) ignores a hold whose procedure has ended. Thread-safe.
//
// The functions read small files of <root>/snapshots and block for that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/table_name.h"

namespace ratchet::master {

class ClusterFiles;

struct SnapshotHold {
  ProcId pid;
  std::string name;
  TableName table;
};

class SnapshotBook {
 public:
  void Hold(const SnapshotHold& hold);
  void Release(ProcId pid);
  [[nodiscard]] std::vector<SnapshotHold> List() const;  // by pid

 private:
  mutable Mutex mutex_;
  std::map<ProcId, SnapshotHold> holds_ GUARDED_BY(mutex_);
};

// Files of a snapshot's directory.
inline constexpr const char* kSnapshotComplete = "complete";  // a SnapshotDescription; written last
inline constexpr const char* kSnapshotParts = "parts";        // a SnapshotParts

struct CompleteSnapshot {
  std::string directory;  // "<name>.<pid>"
  hbase::pb::SnapshotDescription description;
};

[[nodiscard]] Status CheckSnapshotName(const std::string& name);
[[nodiscard]] std::string SnapshotDirectoryName(const std::string& name, ProcId creator);
// Returns the snapshot's name from such a directory name.
[[nodiscard]] std::string SnapshotNameIn(const std::string& directory);

// Lists complete snapshots by name. Skips and logs unreadable ones.
[[nodiscard]] Result<std::vector<CompleteSnapshot>> CompleteSnapshots(ClusterFiles& files);
// Errors: SnapshotDoesNotExistException if no snapshot has this name, CorruptedSnapshotException if it cannot be read.
[[nodiscard]] Result<CompleteSnapshot> FindSnapshot(ClusterFiles& files, const std::string& name);
// Returns true when the time to live of the snapshot is over. As in HBase an expired snapshot cannot be used, even
// before the cleaner deletes it.
[[nodiscard]] bool IsExpired(const hbase::pb::SnapshotDescription& description, std::int64_t now_ms);
// Like FindSnapshot, for a clone, restore or export. SnapshotTTLExpiredException: the snapshot is expired.
[[nodiscard]] Result<CompleteSnapshot> FindUsableSnapshot(ClusterFiles& files, const std::string& name,
                                                          std::int64_t now_ms);
[[nodiscard]] Result<hbase::pb::SnapshotParts> PartsOf(ClusterFiles& files, const std::string& directory);

// Errors with HBase's classes and texts.
[[nodiscard]] Error SnapshotExists(const std::string& name);
[[nodiscard]] Error SnapshotMissing(const std::string& name);
[[nodiscard]] Error SnapshotUnknown(const std::string& name);
[[nodiscard]] Error SnapshotExpired(const std::string& name);    // SnapshotTTLExpiredException
[[nodiscard]] Error SnapshotFailed(const std::string& why);      // SnapshotCreationException
[[nodiscard]] Error SnapshotCopyFailed(const std::string& why);  // RestoreSnapshotException
[[nodiscard]] Error SnapshotDamaged(const std::string& why);     // CorruptedSnapshotException
[[nodiscard]] Error SnapshotsWait();                             // RegionTooBusyException: ask again

}  // namespace ratchet::master
