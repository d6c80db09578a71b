// The last reported load of region servers, for the cluster status. A report has the changed loads of some of a
// server's regions, in turn; this class merges them. The load of a region is dropped when the region leaves the server,
// or is opened there again: then the load is unknown, S168 (unchanged is not unknown). Thread-safe; in memory only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/server_name.h"
#include "master/cluster/reported_regions.h"
#include "master/telemetry/region_sizes.h"

namespace ratchet::master {

struct LoadSum {
  std::uint32_t store_files = 0;
  std::uint64_t store_mib = 0;
  std::uint64_t memstore_mib = 0;

  void Add(const LoadSum& other);
};

// The load of one region in a small part of the memory that its message needs: a master has one for each region.
class KeptLoad {
 public:
  explicit KeptLoad(hbase::pb::RegionLoad load);
  [[nodiscard]] hbase::pb::RegionLoad Message() const;
  // The full name: "table,start key,id.encoded name."
  [[nodiscard]] std::string_view name() const { return std::string_view(bytes_).substr(0, name_size_); }
  [[nodiscard]] const LoadSum& sum() const { return sum_; }

 private:
  LoadSum sum_;
  std::uint32_t name_size_ = 0;
  std::string bytes_;  // the name, then the serialized message without it
};

class LoadBook {
 public:
  // `list`: the regions that the server has open, from the same report; loads of other regions are removed. Returns
  // false if a newer report of the server was stored before: then nothing changes.
  bool Put(const ServerName& server, hbase::pb::ServerLoad load, TimePoint now, const RegionList& list = {});
  [[nodiscard]] std::optional<hbase::pb::ServerLoad> Get(const ServerName& server) const;
  // Returns the number of regions whose load at `server` is known.
  [[nodiscard]] std::uint64_t KnownAt(const ServerName& server) const;
  // Returns the sizes of all regions whose load at `server` is known.
  [[nodiscard]] std::vector<RegionSize> SizesAt(const ServerName& server) const;
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
    hbase::pb::ServerLoad load;               // without the loads of regions
    std::map<std::string, KeptLoad> regions;  // by encoded name
    std::uint64_t number = 0;                 // of the newest list
    TimePoint at{};
  };
  void ForgetOld(TimePoint now) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> flushed_ GUARDED_BY(mutex_);
  std::size_t puts_ GUARDED_BY(mutex_) = 0;  // since the last ForgetOld
};

}  // namespace ratchet::master
