// Snapshots: those that are being taken, in memory, and those that are complete, on storage.
//
// SnapshotBook holds S45's holds: while a snapshot is unfinished, split and merge of its table are refused. Rebuilt
// after a restart from the unfinished procedures, before any worker runs. A hold whose procedure has ended counts for
// nothing; SnapshotOf (procedures/snapshot.h) looks. Thread-safe.
//
// The functions read small files of <root>/snapshots and block for that.
#pragma once

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
// The name in such a directory's name.
[[nodiscard]] std::string SnapshotNameIn(const std::string& directory);

// By name. What cannot be read is left out and logged: it does not hide the others.
[[nodiscard]] Result<std::vector<CompleteSnapshot>> CompleteSnapshots(ClusterFiles& files);
// SnapshotDoesNotExistException: there is none of this name. CorruptedSnapshotException: it cannot be read.
[[nodiscard]] Result<CompleteSnapshot> FindSnapshot(ClusterFiles& files, const std::string& name);
[[nodiscard]] Result<hbase::pb::SnapshotParts> PartsOf(ClusterFiles& files, const std::string& directory);

// HBase's words.
[[nodiscard]] Error SnapshotExists(const std::string& name);
[[nodiscard]] Error SnapshotMissing(const std::string& name);
[[nodiscard]] Error SnapshotUnknown(const std::string& name);
[[nodiscard]] Error SnapshotFailed(const std::string& why);      // SnapshotCreationException
[[nodiscard]] Error SnapshotCopyFailed(const std::string& why);  // RestoreSnapshotException
[[nodiscard]] Error SnapshotDamaged(const std::string& why);     // CorruptedSnapshotException
[[nodiscard]] Error SnapshotsWait();                             // RegionTooBusyException: ask again

}  // namespace ratchet::master
