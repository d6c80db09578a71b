// Finds the server of each region: a cache over hbase:meta.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/mutex.h"
#include "common/client/master_caller.h"
#include "common/model/region_info.h"
#include "common/model/region_state.h"
#include "common/model/server_name.h"

namespace hbase::pb {
class Scan;
}

namespace ratchet::client {

struct RegionLocation {
  RegionInfo region;
  ServerName server;
  bool hinted = false;  // the server comes from another server's hint, not from hbase:meta
  [[nodiscard]] rpc::Endpoint endpoint() const { return {server.host, server.port}; }
};

// Thread-safe. Look-ups block until the loop's deadline.
class RegionLocator {
 public:
  RegionLocator(rpc::ChannelPool& pool, MasterCaller& master, Millis rpc_timeout)
      : pool_(pool), master_(master), rpc_timeout_(rpc_timeout) {}

  // The region that contains `row`. kNotFound (TableNotFoundException) when meta has no region of the table there.
  [[nodiscard]] Result<RegionLocation> Locate(RetryLoop& loop, const TableName& table, std::string_view row);
  // Returns the table's state in hbase:meta (one attempt); nullopt when it cannot be found out.
  [[nodiscard]] std::optional<TableState> StateOf(RetryLoop& loop, const TableName& table);
  // The region that ends where `region` begins, for reverse scans.
  [[nodiscard]] Result<RegionLocation> LocateBefore(RetryLoop& loop, const RegionInfo& region);
  // All regions of a table in order, freshly read; a region without a server has an empty one.
  [[nodiscard]] Result<std::vector<RegionLocation>> LocateAll(RetryLoop& loop, const TableName& table);
  // The location is wrong or its server does not answer: the next call looks it up again.
  void Forget(const RegionLocation& location);
  // No process answers at the server's address: all of its regions are looked up again before the next call to it.
  void ForgetServer(const RegionLocation& location);
  // A server returned a hint to the new location of a region. The hint is followed once: if the location is itself a
  // hint, hbase:meta decides. Hints can be old, and two servers can have hints that lead to each other.
  void Moved(const RegionLocation& location, const ServerName& server);

 private:
  [[nodiscard]] Result<RegionLocation> LocateMeta(RetryLoop& loop);
  // Scans meta once and decodes region rows of `table`.
  [[nodiscard]] Result<std::vector<RegionLocation>> ScanMeta(RetryLoop& loop, const TableName& table,
                                                             const hbase::pb::Scan& scan, std::uint32_t rows);
  // The nearest region row at or below `from` that is not a split parent; nullopt: the table has none there.
  [[nodiscard]] Result<std::optional<RegionLocation>> Search(RetryLoop& loop, const TableName& table, std::string from,
                                                             bool include_start);
  void Remember(const RegionLocation& location);

  rpc::ChannelPool& pool_;
  MasterCaller& master_;
  const Millis rpc_timeout_;
  Mutex mutex_;
  std::optional<RegionLocation> meta_ GUARDED_BY(mutex_);
  std::map<TableName, std::map<std::string, RegionLocation, std::less<>>> cache_ GUARDED_BY(mutex_);  // by start key
};

}  // namespace ratchet::client
