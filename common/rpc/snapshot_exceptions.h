// HBase's exception classes of snapshots. Each is a descendant of DoNotRetryIOException.
#pragma once

#include <string_view>

namespace ratchet::rpc::exception {

inline constexpr std::string_view kSnapshotExists = "org.apache.hadoop.hbase.snapshot.SnapshotExistsException";
inline constexpr std::string_view kSnapshotDoesNotExist =
    "org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException";
inline constexpr std::string_view kSnapshotCreation = "org.apache.hadoop.hbase.snapshot.SnapshotCreationException";
inline constexpr std::string_view kUnknownSnapshot = "org.apache.hadoop.hbase.snapshot.UnknownSnapshotException";
inline constexpr std::string_view kRestoreSnapshotFailed = "org.apache.hadoop.hbase.snapshot.RestoreSnapshotException";
inline constexpr std::string_view kSnapshotExpired = "org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException";
inline constexpr std::string_view kCorruptedSnapshot = "org.apache.hadoop.hbase.snapshot.CorruptedSnapshotException";

}  // namespace ratchet::rpc::exception
