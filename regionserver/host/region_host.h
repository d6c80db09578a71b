// Keeps the open regions of this server, and executes masters' orders on them.
//
// Owner: the process. Thread-safe. Orders run on lanes' threads and may take long; Find and the rest are quick.
#pragma once

#include <atomic>
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
#include "regionserver/host/moved_regions.h"
#include "regionserver/host/put_off_compactions.h"
#include "regionserver/host/region_report.h"
#include "regionserver/host/shared_tables.h"
#include "regionserver/host/unserved_regions.h"
#include "regionserver/orders/lane_pool.h"
#include "regionserver/orders/order_decoder.h"
#include "regionserver/region/build_regions.h"
#include "regionserver/region/copy_region.h"
#include "regionserver/region/region.h"
#include "regionserver/wal/server_log.h"

namespace ratchet::regionserver {

// A store file of an open region that could not be read.
struct DamagedFile {
  std::string path;  // below the root
  std::string region;
  std::string table;
  Error error;
};

struct HostOptions {
  RegionSettings region;
  std::uint64_t log_roll_bytes = 32u << 20;
  Live<std::int64_t> max_logs{
      // above this number of unflushed log files, the regions that need the oldest one are flushed
      16};
  bool prepare_next_log = true;  // see ServerLogOptions
  // Both are called on any thread and must not block.
  std::function<void(const DamagedFile& file)> damaged{};
  std::function<void(const std::string& encoded_name)> closed{};  // a region is no longer open here
};

class RegionHost final : public OrderExecutor {
 public:
  // All parameters must outlive the host. `die` is called, on any thread, when this server must end, with the reason.
  RegionHost(io::Directory& root, Clock& clock, Lanes& lanes, HostOptions options,
             std::function<void(int exit_code, const std::string& why)> die);
  ~RegionHost() override;

  // Sets the server's own log directory (S4: directory made once); call before the first order. Opens the log of
  // ordinary regions; meta's follows with meta.
  [[nodiscard]] Status UseLogDirectory(io::FencedDirectory& directory);
  // S2 (check is positive): checks the fence of the log directory now.
  [[nodiscard]] Status CheckFence() const;

  OrderAnswer Open(const OpenOrder& order) override;
  std::optional<OrderAnswer> Close(const CloseOrder& order) override;
  OrderAnswer SplitLog(const SplitLogOrder& order) override;
  OrderAnswer Flush(const FlushOrder& order) override;
  OrderAnswer Compact(const CompactOrder& order) override;
  OrderAnswer Build(const BuildOrder& order) override;
  OrderAnswer Copy(const CopyOrder& order) override;
  OrderAnswer RefreshPeers(const RefreshPeersOrder& order) override;
  // `take` gets each list of replication peers; call before the first order.
  void GivePeersTo(std::function<void(const pb::PeerList&)> take) { take_peers_ = std::move(take); }

  // Returns the open region with this encoded name. Errors are those that clients handle: not serving, opening, moved.
  [[nodiscard]] Result<std::shared_ptr<Region>> Find(const std::string& encoded_name) const;
  [[nodiscard]] std::vector<std::shared_ptr<Region>> All() const;
  // Returns the regions opened and closed since the last call; for the report only.
  [[nodiscard]] OpenChanges DrainChanges();

  // Starts work in the background; at most one job of a kind waits for each region.
  void FlushSoon(const std::string& encoded_name);
  // Called when the server's memstores are too full together: flushes the largest, one at a time.
  void FlushLargest();
  void CompactSoon(const std::string& encoded_name, bool major);
  // True when a compaction runs, or waits for its turn or for disk space.
  [[nodiscard]] bool IsCompacting(const std::string& encoded_name, bool major) const;
  // Off: no compaction begins, and requests for one are ignored; a running one continues. On again: every open region
  // is checked. Returns the previous value; on after each start of the process.
  bool SwitchCompactions(bool on);
  // Retries compactions that lacked disk space (S90: compactions leave space). Called periodically.
  void TryCompactionsAgain();
  [[nodiscard]] const PutOffCompactions& put_off() const { return put_off_; }
  // Returns the metrics of all logs together, and the number of files that no manifest covers.
  [[nodiscard]] ServerLog::Metrics LogMetrics() const;
  [[nodiscard]] std::size_t LogFiles() const;
  // Checks the marks of open regions, and ends the process if a region refuses every request for too long (S120:
  // unserved region is reported).
  void LookAtMarks();
  // Asks the storage for the free bytes below the root; called periodically on a thread that may wait.
  void LookAtDisk();
  // Adds the result of the last check of the disk. Never waits.
  void FillStorage(pb::StorageReport& report) const;
  [[nodiscard]] const MemstoreBudget& budget() const { return *options_.region.budget; }
  // Marks logs that manifests cover (S32: two-stage cleaner), and flushes regions that keep too many logs. Called
  // periodically.
  void LookAfterLogs();
  // Returns the files of the log of ordinary regions, oldest first; for replication, which may need some longer than
  // regions.
  [[nodiscard]] std::vector<ServerLog::FileInfo> LogFileList() const;
  // See ServerLog::KeepFrom; applies to logs that are opened later, too.
  void KeepLogsFrom(std::uint64_t number);
  // Closes the current log files and begins new ones.
  [[nodiscard]] Status RollLogs();
  // Flushes one region after the other until done or `deadline`.
  void FlushAll(TimePoint deadline);
  // Makes closes that wait for disk space give up. Call before the lanes are stopped.
  void StopWaiting();
  // Ends the logs; call after everything that uses them.
  void StopLogs();

 private:
  [[nodiscard]] Result<std::shared_ptr<Region>> OpenRegion(const OpenOrder& order);
  void SetCallbacks(const OpenOrder& order, OpenParams& params);
  [[nodiscard]] Result<ServerLog*> LogFor(bool meta);
  [[nodiscard]] Result<std::unique_ptr<ServerLog>> MakeLog(const std::string& prefix);
  [[nodiscard]] Result<std::unique_ptr<io::Directory>> RegionDirectory(const std::string& table_dir,
                                                                       const std::string& encoded_name) const;
  void CompactNow(const std::string& encoded_name, bool major);
  [[nodiscard]] static Lane FlushLane(const std::string& encoded_name);
  [[nodiscard]] Result<std::string> RunSplit(const SplitLogOrder& order) const;
  [[nodiscard]] Result<BuildReport> RunBuild(const BuildOrder& order) const;
  [[nodiscard]] Result<CopyReport> RunCopy(const CopyOrder& order) const;
  // Opens the directory of one region's part of a snapshot.
  [[nodiscard]] Result<std::unique_ptr<io::Directory>> PartDirectory(const std::string& snapshot,
                                                                     const std::string& encoded_name) const;
  [[nodiscard]] std::vector<ServerLog*> Logs() const;
  // S50 (give up only on proof): only a higher opening removes a region from this host without a close.
  void Drop(const std::string& encoded_name, std::uint64_t open_number);
  // S51 (CLOSED means closed cleanly): returns true when this host lost a region that was open here without a close;
  // the process ends.
  [[nodiscard]] bool EndIfGivenUp(const std::string& encoded_name, const char* order);
  Status CloseOrWait(Region& region, ProcId pid);
  // S116 (missing directory is not evidence): a mark in the log directory records that manifests cover this server's
  // writes to a region that it closed. The marks are removed when the logs with the region's entries are covered.
  void MarkFlushed(const std::string& encoded_name, std::uint64_t sequence);
  void RemoveFlushedMarks(std::uint64_t first_log);
  void NoteWhereItWent(const CloseOrder& order, std::uint64_t sequence) REQUIRES(mutex_);

  io::Directory& root_;
  Clock& clock_;
  Lanes& lanes_;
  const HostOptions options_;
  const SharedSettings settings_;  // options_.region
  std::atomic<bool> making_room_{false};
  std::atomic<bool> compactions_on_{true};
  PutOffCompactions put_off_;
  UnservedRegions unserved_;
  SharedTables tables_;
  static constexpr std::int64_t kDiskUnknown = -1;
  std::atomic<std::int64_t> disk_free_{kDiskUnknown};
  const std::function<void(int, const std::string&)> die_;
  std::function<void(const pb::PeerList&)> take_peers_;  // set once, before the first order
  io::FencedDirectory* log_directory_ = nullptr;         // set once, before the first order

  Mutex making_log_;  // taken before mutex_
  mutable Mutex mutex_;
  std::unique_ptr<ServerLog> log_ GUARDED_BY(mutex_);
  std::uint64_t keep_logs_from_ GUARDED_BY(mutex_) = UINT64_MAX;
  std::unique_ptr<ServerLog> meta_log_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Region>> open_ GUARDED_BY(mutex_);
  // changes since DrainChanges; null: closed
  std::map<std::string, std::shared_ptr<Region>> changed_ GUARDED_BY(mutex_);
  std::set<std::string> opening_ GUARDED_BY(mutex_);
  // opened here, lost without a close; kept for the life of the process
  std::set<std::string> given_up_ GUARDED_BY(mutex_);
  CondVar stop_changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::set<std::string> flush_waits_ GUARDED_BY(mutex_);
  std::set<std::string> compact_waits_ GUARDED_BY(mutex_);
  std::multiset<std::string> compact_runs_ GUARDED_BY(mutex_);  // a run waits for another run of its region
  struct FlushedRegion {
    std::string mark;
    std::uint64_t log = 0;  // number of the newest log file that may have entries of the region
  };
  std::map<std::string, FlushedRegion> flushed_ GUARDED_BY(mutex_);  // closed regions, by encoded name
  MovedRegions moved_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
