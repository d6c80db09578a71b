// The open regions of this server, and the parts that work on them. Each part is used directly; this class makes them
// in the right order, and runs their periodic upkeep.
//
// Owner: the process. The parts are thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/io/disk.h"
#include "common/model/proto/region_server_status.pb.h"
#include "regionserver/host/compactor.h"
#include "regionserver/host/flusher.h"
#include "regionserver/host/open_regions.h"
#include "regionserver/host/order_handlers.h"
#include "regionserver/host/unserved_regions.h"
#include "regionserver/host/wal_keeper.h"
#include "regionserver/orders/lane_pool.h"

namespace ratchet::regionserver {

struct HostOptions {
  RegionSettings region;
  WalOptions wal;
  // See OrderOptions.
  std::function<void(const DamagedFile& file)> damaged{};
  std::function<void(const std::string& encoded_name)> closed{};
};

class RegionHost {
 public:
  // `root`, `clock` and `lanes` outlive the host. `die` is called when this server must end.
  RegionHost(io::Directory& root, Clock& clock, Lanes& lanes, const HostOptions& options, const Die& die);
  // The logs' threads call into the parts below until the logs have stopped.
  ~RegionHost() { wals.Stop(); }
  RegionHost(const RegionHost&) = delete;
  RegionHost& operator=(const RegionHost&) = delete;

  // Called periodically, on a thread that may wait for the storage: checks the marks of open regions, and ends the
  // process if a region refuses every request for too long (S120: unserved region is reported); looks after the logs,
  // the free bytes below the root, and compactions that lacked space.
  void Upkeep();
  // Adds the results of the last upkeep. Never waits.
  void FillStorage(hbase::pb::StorageReport& report) const;

  OpenRegions regions;
  UnservedRegions unserved;
  Compactor compactor;
  Flusher flusher;
  WalKeeper wals;
  OrderHandlers orders;

 private:
  static constexpr std::int64_t kDiskUnknown = -1;

  io::Directory& root_;
  Clock& clock_;
  const Die die_;
  std::atomic<std::int64_t> disk_free_{kDiskUnknown};
};

}  // namespace ratchet::regionserver
