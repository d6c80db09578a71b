// What the region servers last said about their load, for the cluster status. A report has the load of some of a
// server's regions, in turn; here they come together. Thread-safe; in memory only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/server_name.h"
#include "master/state/server_list.h"

namespace ratchet::master {

struct LoadSum {
  std::uint32_t store_files = 0;
  std::uint64_t store_mib = 0;
  std::uint64_t memstore_mib = 0;
};

class LoadBook {
 public:
  // `list`: what came with it of the regions that the server has open; the loads of others are forgotten.
  void Put(const ServerName& server, hbase::pb::ServerLoad load, TimePoint now, const RegionList& list = {});
  [[nodiscard]] std::optional<hbase::pb::ServerLoad> Get(const ServerName& server) const;
  // What server `at`, where the region is, reported for it. Without that the last load that any server reported, for
  // which all servers are looked at. Nothing: none is known, or not any more.
  [[nodiscard]] std::optional<hbase::pb::RegionLoad> LoadOf(const std::string& encoded_region,
                                                            const std::optional<ServerName>& at = {}) const;
  // Of a region where it is; nothing: its server has not reported it (yet).
  [[nodiscard]] std::optional<LoadSum> LoadAt(const std::string& encoded_region, const ServerName& server) const;
  // Requests a second; nothing: the server is not known, or not any more.
  [[nodiscard]] std::optional<std::uint64_t> RequestsOf(const ServerName& server) const;
  // Of all regions that a server reports, and of all regions of each table ("ns:t"; "t" in the default namespace). A
  // region that has just moved may count twice, until its last server has told that it went.
  [[nodiscard]] LoadSum SumOf(const ServerName& server) const;
  [[nodiscard]] std::map<std::string, LoadSum> SumsByTable() const;
  // The greatest flushed sequence that any server reported for the region; nothing: never reported.
  [[nodiscard]] std::optional<std::uint64_t> FlushedSequence(const std::string& encoded_region) const;

 private:
  struct Page {
    hbase::pb::ServerLoad load;                            // without the regions'
    std::map<std::string, hbase::pb::RegionLoad> regions;  // by encoded name
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> flushed_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
