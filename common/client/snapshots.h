// Snapshots of tables, through the active master.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/client/admin.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/table_name.h"

namespace ratchet::client {

// Cheap to make; thread-safe. As Admin: each verb that returns a pid carries one nonce through all its retries;
// Admin::Wait waits for its end.
class Snapshots {
 public:
  explicit Snapshots(Connection& connection) : Snapshots(connection, connection.options().operation_timeout) {}
  Snapshots(Connection& connection, Millis timeout) : admin_(connection, timeout) {}

  struct Options {
    bool flush = true;             // false: the snapshot lacks rows that are only in memory
    std::int64_t ttl_seconds = 0;  // 0: until it is deleted
  };
  [[nodiscard]] Result<std::uint64_t> Take(const std::string& name, const TableName& table, const Options& options);
  // Into `table`: replaces a disabled table, or creates one that does not exist. `with_rights`: also gives the rights
  // that the snapshot's table had.
  [[nodiscard]] Result<std::uint64_t> PutBack(const std::string& name, const TableName& table,
                                              bool with_rights = false);
  [[nodiscard]] Result<std::vector<hbase::pb::SnapshotDescription>> List();
  [[nodiscard]] Status Delete(const std::string& name);
  // To and from a directory on the active master's machine. `name` empty: the one that it was exported with.
  [[nodiscard]] Result<std::uint64_t> Export(const std::string& name, const std::string& directory);
  [[nodiscard]] Result<std::uint64_t> Import(const std::string& directory, const std::string& name);

 private:
  Admin admin_;
};

}  // namespace ratchet::client
