// The regions that this server has open, and the execution of masters' orders on them.
//
// Owner: the process. Thread-safe. Orders run on lanes' threads and may take long; Find and the rest are quick.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/fenced_directory.h"
#include "common/model/server_name.h"
#include "regionserver/log/server_log.h"
#include "regionserver/orders/lane_pool.h"
#include "regionserver/orders/order_decoder.h"
#include "regionserver/region/build_regions.h"
#include "regionserver/region/copy_region.h"
#include "regionserver/region/region.h"
#include "regionserver/server/put_off_compactions.h"
#include "regionserver/server/region_report.h"

namespace ratchet::regionserver {

struct HostOptions {
  RegionSettings region;
  std::uint64_t log_roll_bytes = 32u << 20;
  Live<std::int64_t> max_logs{
      16};                       // more unflushed log files than this: the regions that need the oldest one are flushed
  bool prepare_next_log = true;  // see ServerLogOptions
};

class RegionHost final : public OrderExecutor {
 public:
  // All must outlive the host. `die`: this server must not go on, with the reason; called on any thread.
  RegionHost(io::Directory& root, Clock& clock, Lanes& lanes, HostOptions options,
             std::function<void(int exit_code, const std::string& why)> die);
  ~RegionHost() override;

  // The server's own log directory (S4); before the first order. Opens the log of ordinary regions; meta's follows with
  // meta.
  [[nodiscard]] Status UseLogDirectory(io::FencedDirectory& directory);
  // S2: the fence of the log directory, now.
  [[nodiscard]] Status CheckFence() const;

  OrderAnswer Open(const OpenOrder& order) override;
  std::optional<OrderAnswer> Close(const CloseOrder& order) override;
  OrderAnswer SplitLog(const SplitLogOrder& order) override;
  OrderAnswer Flush(const FlushOrder& order) override;
  OrderAnswer Compact(const CompactOrder& order) override;
  OrderAnswer Build(const BuildOrder& order) override;
  OrderAnswer Copy(const CopyOrder& order) override;
  OrderAnswer RefreshPeers(const RefreshPeersOrder& order) override;
  // `take` gets each list of replication peers; before the first order.
  void GivePeersTo(std::function<void(const pb::PeerList&)> take) { take_peers_ = std::move(take); }

  // The open region of this encoded name. Errors are those that clients know: not serving, opening, moved.
  [[nodiscard]] Result<std::shared_ptr<Region>> Find(const std::string& encoded_name) const;
  [[nodiscard]] std::vector<std::shared_ptr<Region>> All() const;
  // What has come and gone since the last call: for one reader, the report.
  [[nodiscard]] OpenChanges TakeChanges();

  // Work in the background, at most one of a kind waiting for each region.
  void FlushSoon(const std::string& encoded_name);
  // The server's memstores are too full together: flushes the largest, one at a time.
  void FlushLargest();
  void CompactSoon(const std::string& encoded_name, bool major);
  // It goes on, waits for its turn, or for room on the disk.
  [[nodiscard]] bool IsCompacting(const std::string& encoded_name, bool major) const;
  // Off: no compaction begins, and requests for one are passed over; one that runs goes on. On again: every open region
  // is looked at. Returns what it was; on after each start of the process.
  bool SwitchCompactions(bool on);
  // Those that had no room on the disk (S90). Called now and then.
  void TryCompactionsAgain();
  [[nodiscard]] const PutOffCompactions& put_off() const { return put_off_; }
  // Of its logs together, and how many of their files no manifest covers.
  [[nodiscard]] ServerLog::Metrics LogMetrics() const;
  [[nodiscard]] std::size_t LogFiles() const;
  // Asks the storage how many bytes are free below the root; called now and then, where it may take long.
  void LookAtDisk();
  // What the last look has found. Never waits.
  void FillStorage(pb::StorageReport& report) const;
  [[nodiscard]] const MemstoreBudget& budget() const { return *options_.region.budget; }
  // Marks the logs that manifests cover (S32), and flushes what keeps too many of them needed. Called now and then.
  void LookAfterLogs();
  // The files of the log of ordinary regions, oldest first; for replication, which needs some longer than regions do.
  [[nodiscard]] std::vector<ServerLog::FileInfo> LogFileList() const;
  // See ServerLog::KeepFrom; also for a log that is opened later.
  void KeepLogsFrom(std::uint64_t number);
  // Closes the current log files and begins new ones.
  [[nodiscard]] Status RollLogs();
  // Flushes one region after the other until done or `deadline`.
  void FlushAll(TimePoint deadline);
  // A close that waits for space on the disk waits no more. Before the lanes are stopped.
  void StopWaiting();
  // Ends the logs, after everything that uses them.
  void StopLogs();

 private:
  [[nodiscard]] Result<std::shared_ptr<Region>> OpenRegion(const OpenOrder& order);
  [[nodiscard]] Result<ServerLog*> LogFor(bool meta);
  [[nodiscard]] Result<std::unique_ptr<ServerLog>> MakeLog(const std::string& prefix);
  [[nodiscard]] Result<std::unique_ptr<io::Directory>> RegionDirectory(const std::string& table_dir,
                                                                       const std::string& encoded_name) const;
  void CompactNow(const std::string& encoded_name, bool major);
  [[nodiscard]] static Lane FlushLane(const std::string& encoded_name);
  [[nodiscard]] Result<std::string> RunSplit(const SplitLogOrder& order) const;
  [[nodiscard]] Result<BuildReport> RunBuild(const BuildOrder& order) const;
  [[nodiscard]] Result<CopyReport> RunCopy(const CopyOrder& order) const;
  // One region's part of a snapshot.
  [[nodiscard]] Result<std::unique_ptr<io::Directory>> PartDirectory(const std::string& snapshot,
                                                                     const std::string& encoded_name) const;
  [[nodiscard]] std::vector<ServerLog*> Logs() const;
  // S50: only a higher opening takes a region from this host without a close.
  void Drop(const std::string& encoded_name, std::uint64_t open_seq);
  // S51: true when this host had the region open, and neither closed it nor may pretend so: the process ends.
  [[nodiscard]] bool EndIfGivenUp(const std::string& encoded_name, const char* order);
  Status CloseOrWait(Region& region, ProcId pid);
  void RememberMove(const CloseOrder& order, std::uint64_t sequence) REQUIRES(mutex_);

  io::Directory& root_;
  Clock& clock_;
  Lanes& lanes_;
  const HostOptions options_;
  std::atomic<bool> making_room_{false};
  std::atomic<bool> compactions_on_{true};
  PutOffCompactions put_off_;
  static constexpr std::int64_t kDiskUnknown = -1;
  std::atomic<std::int64_t> disk_free_{kDiskUnknown};
  const std::function<void(int, const std::string&)> die_;
  std::function<void(const pb::PeerList&)> take_peers_;  // set once, before the first order
  io::FencedDirectory* log_directory_ = nullptr;         // set once, before the first order

  struct Moved {
    ServerName destination;
    std::uint64_t sequence = 0;
  };
  Mutex making_log_;  // before mutex_
  mutable Mutex mutex_;
  std::unique_ptr<ServerLog> log_ GUARDED_BY(mutex_);
  std::uint64_t keep_logs_from_ GUARDED_BY(mutex_) = UINT64_MAX;
  std::unique_ptr<ServerLog> meta_log_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Region>> open_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Region>> changed_ GUARDED_BY(mutex_);  // since TakeChanges; null: gone
  std::set<std::string> opening_ GUARDED_BY(mutex_);
  std::set<std::string> given_up_ GUARDED_BY(mutex_);  // open once, dropped without a close; for life
  CondVar stop_changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::set<std::string> flush_waits_ GUARDED_BY(mutex_);
  std::set<std::string> compact_waits_ GUARDED_BY(mutex_);
  std::multiset<std::string> compact_runs_ GUARDED_BY(mutex_);  // one waits for another of its region
  std::map<std::string, Moved> moved_ GUARDED_BY(mutex_);
  std::deque<std::string> moved_order_ GUARDED_BY(mutex_);  // the oldest is forgotten first
};

}  // namespace ratchet::regionserver
