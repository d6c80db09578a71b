// Executes the orders of masters: opens and closes regions, flushes, compacts, builds and copies them, splits logs.
//
// Owner: RegionHost. Orders run on lanes' threads, which may wait long; different orders at the same time. `mutex_`
// guards only the end of waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/host/compactor.h"
#include "regionserver/host/flusher.h"
#include "regionserver/host/group_opener.h"
#include "regionserver/host/open_regions.h"
#include "regionserver/host/unserved_regions.h"
#include "regionserver/host/wal_keeper.h"
#include "regionserver/orders/order_decoder.h"
#include "regionserver/region/build_regions.h"
#include "regionserver/region/copy_region.h"
#include "regionserver/region/open_steps.h"
#include "regionserver/region/region.h"
#include "regionserver/region/shared_table.h"

namespace ratchet::regionserver {

// A store file of an open region that could not be read.
struct DamagedFile {
  std::string path;  // below the root
  std::string region;
  std::string table;
  Error error;
};

struct OrderOptions {
  SharedSettings region;
  // Both are called on any thread and must not block.
  std::function<void(const DamagedFile& file)> damaged{};
  std::function<void(const std::string& encoded_name)> closed{};  // a region is no longer open here
};

class OrderHandlers final : public OrderExecutor {
 public:
  // The orders work on these parts, which outlive this object.
  struct Parts {
    io::Directory& root;
    Clock& clock;
    Lanes& lanes;
    OpenRegions& regions;
    Flusher& flusher;
    Compactor& compactor;
    WalKeeper& wals;
    UnservedRegions& unserved;
  };
  OrderHandlers(Parts parts, OrderOptions options, Die die)
      : root_(parts.root),
        clock_(parts.clock),
        regions_(parts.regions),
        flusher_(parts.flusher),
        compactor_(parts.compactor),
        wals_(parts.wals),
        unserved_(parts.unserved),
        options_(std::move(options)),
        die_(std::move(die)),
        opener_(parts.root, parts.lanes, LimitsFor(DescriptorLimit())) {}

  OrderAnswer Open(const OpenOrder& order) override;
  void OpenWithOthers(std::shared_ptr<const OpenOrder> order, std::function<void(OrderAnswer)> done) override;
  std::optional<OrderAnswer> Close(const CloseOrder& order) override;
  OrderAnswer SplitLog(const SplitLogOrder& order) override;
  OrderAnswer Flush(const FlushOrder& order) override;
  OrderAnswer Compact(const CompactOrder& order) override;
  OrderAnswer Build(const BuildOrder& order) override;
  OrderAnswer Copy(const CopyOrder& order) override;
  OrderAnswer RefreshPeers(const RefreshPeersOrder& order) override;
  OrderAnswer TakeRights(const TakeRightsOrder& order) override;
  // `take` gets each list of replication peers; call before the first order.
  void GivePeersTo(std::function<void(const pb::PeerList&)> take) { take_peers_ = std::move(take); }
  // `take` gets each image of rights; call before the first order.
  void GiveRightsTo(std::function<void(std::shared_ptr<const rights::RightsImage>)> take) {
    take_rights_ = std::move(take);
  }
  // Makes closes that wait for disk space give up. Call before the lanes are stopped.
  void StopWaiting();

 private:
  class Job;
  // An opening in progress.
  struct OpenInProgress {
    std::shared_ptr<const OpenOrder> order;
    bool begun = false;  // EndOpening has to follow
    TimePoint begun_at{};
    std::shared_ptr<Region> already;  // the region was open before
    std::unique_ptr<OpenSteps> steps;
  };
  // Makes the checks, and the step Claim unless the region is open already.
  [[nodiscard]] Status BeginOpen(OpenInProgress& opening);
  // Ends the opening: with its last step, or with the error of an earlier one.
  [[nodiscard]] OrderAnswer EndOpen(OpenInProgress& opening, const Status& so_far);
  [[nodiscard]] Result<std::shared_ptr<Region>> Finish(OpenInProgress& opening, const Status& so_far);
  [[nodiscard]] Result<OpenParams> ParamsOf(const OpenOrder& order);
  void SetCallbacks(const OpenOrder& order, OpenParams& params);
  void Drop(const std::string& encoded_name, std::uint64_t open_number);
  // S51 (CLOSED means closed cleanly): returns true when this server lost a region that was open here without a close;
  // the process ends.
  [[nodiscard]] bool EndIfGivenUp(const std::string& encoded_name, const char* order);
  [[nodiscard]] Status CloseOrWait(Region& region, ProcId pid);
  [[nodiscard]] Result<BuildReport> RunBuild(const BuildOrder& order) const;
  [[nodiscard]] Result<CopyReport> RunCopy(const CopyOrder& order) const;
  // Opens the directory of one region's part of a snapshot.
  [[nodiscard]] Result<std::unique_ptr<io::Directory>> PartDirectory(const std::string& snapshot,
                                                                     const std::string& encoded_name) const;

  io::Directory& root_;
  Clock& clock_;
  OpenRegions& regions_;
  Flusher& flusher_;
  Compactor& compactor_;
  WalKeeper& wals_;
  UnservedRegions& unserved_;
  const OrderOptions options_;
  const Die die_;
  SharedTables tables_;
  std::function<void(const pb::PeerList&)> take_peers_;                          // set once, before the first order
  std::function<void(std::shared_ptr<const rights::RightsImage>)> take_rights_;  // likewise
  GroupOpener opener_;
  Mutex mutex_;
  CondVar stop_changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::regionserver
