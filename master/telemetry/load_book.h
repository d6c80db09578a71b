// The last reported load of region servers, for the cluster status. A report has the load of some of a server's
// regions, in turn; this class merges them. Thread-safe; in memory only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/server_name.h"
#include "master/cluster/server_list.h"

namespace ratchet::master {

struct LoadSum {
  std::uint32_t store_files = 0;
  std::uint64_t store_mib = 0;
  std::uint64_t memstore_mib = 0;
};

class LoadBook {
 public:
  // `list`: the regions that the server has open, from the same report; loads of other regions are removed.
  void Put(const ServerName& server, hbase::pb::ServerLoad load, TimePoint now, const RegionList& list = {});
  [[nodiscard]] std::optional<hbase::pb::ServerLoad> Get(const ServerName& server) const;
  // Returns the load that server `at`, which has the region, reported. Without `at`, searches all servers for the last
  // reported load. nullopt: no load is known.
  [[nodiscard]] std::optional<hbase::pb::RegionLoad> LoadOf(const std::string& encoded_region,
                                                            const std::optional<ServerName>& at = {}) const;
  // Returns the load of a region at its server; nullopt if that server has not reported it.
  [[nodiscard]] std::optional<LoadSum> LoadAt(const std::string& encoded_region, const ServerName& server) const;
  // Requests per second; nullopt for an unknown server.
  [[nodiscard]] std::optional<std::uint64_t> RequestsOf(const ServerName& server) const;
  // Sums of all regions of a server, and of all regions of each table ("ns:t"; "t" in the default namespace). A region
  // that has just moved may count twice, until its previous server has reported the change.
  [[nodiscard]] LoadSum SumOf(const ServerName& server) const;
  [[nodiscard]] std::map<std::string, LoadSum> SumsByTable() const;
  // Greatest flushed sequence that any server reported for the region; nullopt if none was reported.
  [[nodiscard]] std::optional<std::uint64_t> FlushedSequence(const std::string& encoded_region) const;

 private:
  struct Page {
    hbase::pb::ServerLoad load;                            // without the loads of regions
    std::map<std::string, hbase::pb::RegionLoad> regions;  // by encoded name
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> flushed_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
