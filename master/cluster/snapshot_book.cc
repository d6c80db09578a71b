#include "master/cluster/snapshot_book.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/message_limits.h"
#include "master/cluster/errors.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

void SnapshotBook::Hold(const SnapshotHold& hold) {
  const MutexLock lock(mutex_);
  holds_.insert_or_assign(hold.pid, hold);
}

void SnapshotBook::Release(ProcId pid) {
  const MutexLock lock(mutex_);
  holds_.erase(pid);
}

std::vector<SnapshotHold> SnapshotBook::List() const {
  const MutexLock lock(mutex_);
  std::vector<SnapshotHold> all;
  for (const auto& [pid, hold] : holds_) all.push_back(hold);
  return all;
}

// HBase's rule: the same rule as for a table's name without its namespace.
Status CheckSnapshotName(const std::string& name) {
  const Status legal = TableName("default", name).Check();
  if (legal.ok()) return Ok();
  return IllegalRequest(fmt::format("a snapshot's name must be a valid table name: {}", legal.error().message()));
}

std::string SnapshotDirectoryName(const std::string& name, ProcId creator) {
  return fmt::format("{}.{}", name, creator.value());
}

std::string SnapshotNameIn(const std::string& directory) { return directory.substr(0, directory.rfind('.')); }

namespace {

Result<CompleteSnapshot> ReadSnapshot(ClusterFiles& files, const std::string& directory) {
  RATCHET_ASSIGN(const std::string content, files.ReadSnapshotFile(directory, kSnapshotComplete));
  CompleteSnapshot snapshot;
  snapshot.directory = directory;
  if (!ParseMessage(content, snapshot.description).ok() || snapshot.description.name() != SnapshotNameIn(directory)) {
    return SnapshotDamaged(fmt::format("{}/{} describes another snapshot", directory, kSnapshotComplete));
  }
  return snapshot;
}

}  // namespace

Result<std::vector<CompleteSnapshot>> CompleteSnapshots(ClusterFiles& files) {
  RATCHET_ASSIGN(const std::vector<std::string> directories, files.ListSnapshots());
  std::vector<CompleteSnapshot> all;
  for (const std::string& directory : directories) {
    auto snapshot = ReadSnapshot(files, directory);
    if (snapshot.ok()) {
      all.push_back(std::move(*snapshot));
    } else if (snapshot.error().code() != Code::kNotFound) {
      RATCHET_LOG(kWarn, "Skipping snapshot {}: {}", directory, snapshot.error().ToString());
    }
  }
  std::sort(all.begin(), all.end(), [](const CompleteSnapshot& a, const CompleteSnapshot& b) {
    return a.description.name() < b.description.name();
  });
  return all;
}

Result<CompleteSnapshot> FindSnapshot(ClusterFiles& files, const std::string& name) {
  RATCHET_ASSIGN(const std::vector<std::string> directories, files.ListSnapshots());
  for (const std::string& directory : directories) {
    if (SnapshotNameIn(directory) != name) continue;
    auto snapshot = ReadSnapshot(files, directory);
    if (snapshot.ok()) return snapshot;
    if (snapshot.error().code() == Code::kNotFound) continue;  // not complete
    if (snapshot.error().code() == Code::kCorruption) return SnapshotDamaged(snapshot.error().message());
    return snapshot.error();
  }
  return SnapshotMissing(name);
}

bool IsExpired(const hbase::pb::SnapshotDescription& description, std::int64_t now_ms) {
  constexpr std::int64_t kMillis = 1'000;
  const std::int64_t ttl = description.ttl();
  return ttl > 0 && ttl < INT64_MAX / kMillis && now_ms - description.creation_time() > ttl * kMillis;
}

Result<CompleteSnapshot> FindUsableSnapshot(ClusterFiles& files, const std::string& name, std::int64_t now_ms) {
  RATCHET_ASSIGN(CompleteSnapshot found, FindSnapshot(files, name));
  if (IsExpired(found.description, now_ms)) return SnapshotExpired(name);
  return found;
}

Result<hbase::pb::SnapshotParts> PartsOf(ClusterFiles& files, const std::string& directory) {
  const auto content = files.ReadSnapshotFile(directory, kSnapshotParts);
  if (!content.ok() && content.error().code() == Code::kNotFound) return SnapshotMissing(SnapshotNameIn(directory));
  if (!content.ok()) return content.error();
  hbase::pb::SnapshotParts parts;
  if (!ParseMessage(*content, parts, kMostMessagesInFile).ok() || parts.part_size() == 0)
    return SnapshotDamaged(fmt::format("{}/{} lists no parts of the snapshot", directory, kSnapshotParts));
  return parts;
}

namespace {

Error InHBasesWords(Code code, std::string message, std::string_view exception) {
  return {code, std::move(message), fmt::format("org.apache.hadoop.hbase.{}", exception)};
}

}  // namespace

Error SnapshotExists(const std::string& name) {
  return InHBasesWords(Code::kAlreadyExists, fmt::format("Snapshot '{}' already stored on the filesystem.", name),
                       "snapshot.SnapshotExistsException");
}
Error SnapshotMissing(const std::string& name) {
  return InHBasesWords(Code::kNotFound, fmt::format("Snapshot '{}' doesn't exist on the filesystem", name),
                       "snapshot.SnapshotDoesNotExistException");
}
Error SnapshotExpired(const std::string& name) {
  return InHBasesWords(Code::kFailedPrecondition, fmt::format("TTL for snapshot '{}' has already expired.", name),
                       "snapshot.SnapshotTTLExpiredException");
}
Error SnapshotUnknown(const std::string& name) {
  return InHBasesWords(Code::kNotFound, fmt::format("Snapshot {} is neither complete nor being taken", name),
                       "snapshot.UnknownSnapshotException");
}
Error SnapshotFailed(const std::string& why) {
  return InHBasesWords(Code::kFailedPrecondition, why, "snapshot.SnapshotCreationException");
}
Error SnapshotCopyFailed(const std::string& why) {
  return InHBasesWords(Code::kFailedPrecondition, why, "snapshot.RestoreSnapshotException");
}
Error SnapshotDamaged(const std::string& why) {
  return InHBasesWords(Code::kCorruption, why, "snapshot.CorruptedSnapshotException");
}
Error SnapshotsWait() {
  return InHBasesWords(Code::kResourceExhausted, "the master's thread for slow work has too many tasks; retry later",
                       "RegionTooBusyException");
}

}  // namespace ratchet::master
