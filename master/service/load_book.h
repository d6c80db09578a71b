// What the region servers last said about their load, for the cluster status. Thread-safe; in memory only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class LoadBook {
 public:
  void Put(const ServerName& server, hbase::pb::ServerLoad load, TimePoint now);
  void Remove(const ServerName& server);
  [[nodiscard]] std::optional<hbase::pb::ServerLoad> Get(const ServerName& server) const;
  // The greatest flushed sequence that any server reported for the region; nothing: never reported.
  [[nodiscard]] std::optional<std::uint64_t> FlushedSequence(const std::string& encoded_region) const;

 private:
  struct Page {
    hbase::pb::ServerLoad load;
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> flushed_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
