// The logs of this server: one for ordinary regions, one for hbase:meta, which is made with meta's first opening. Opens
// them, marks what manifests cover (S32: two-stage cleaner), flushes regions that keep too many files, and leaves marks
// of closed regions (S116: missing directory is not evidence).
//
// Owner: RegionHost. Thread-safe. Lock order: `making_log_` before `mutex_`. `mutex_` guards the pointers to the logs
// and the marks; no file work is done while it is held, because heartbeats take it and the storage may hang.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/fenced_directory.h"
#include "regionserver/host/flusher.h"
#include "regionserver/host/open_regions.h"
#include "regionserver/wal/server_log.h"

namespace ratchet::regionserver {

// Ends this server, on any thread, with the reason.
using Die = std::function<void(int exit_code, const std::string& why)>;

struct WalOptions {
  std::uint64_t roll_bytes = 32u << 20;
  // above this number of unflushed log files, the regions that need the oldest one are flushed
  Live<std::int64_t> most_files{16};
  bool prepare_next = true;  // see ServerLogOptions

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBytes(
        {"log-roll-bytes", "Size at which a log file is rolled; the next file is preallocated with this size.", {}},
        &roll_bytes, 65536, 1ull << 30);
    settings.AddInt(
        {"max-logs",
         "Maximum number of log files that wait for flushes; above it the regions that need the oldest are flushed.",
         {"hbase.regionserver.maxlogs"}},
        &most_files, {1, 1000});
  }
};

class WalKeeper {
 public:
  // `regions` and `flusher` outlive this object.
  WalKeeper(WalOptions options, const OpenRegions& regions, Flusher& flusher, Die die)
      : options_(options), regions_(regions), flusher_(flusher), die_(std::move(die)) {}

  // Sets the server's own log directory (S4: directory made once); call before the first order. Opens the log of
  // ordinary regions.
  [[nodiscard]] Status UseDirectory(io::FencedDirectory& directory);
  // S2 (check is positive): checks the fence of the log directory now.
  [[nodiscard]] Status CheckFence() const;
  // Returns the name of the log directory; empty: there is none yet.
  [[nodiscard]] std::string directory_name() const { return directory_ == nullptr ? "" : directory_->name(); }
  // Returns the log for hbase:meta or for ordinary regions.
  [[nodiscard]] Result<ServerLog*> LogFor(bool meta);

  // Marks logs that manifests cover (S32: two-stage cleaner), and flushes regions that keep too many logs. Called
  // periodically.
  void LookAfterLogs();
  // S116 (missing directory is not evidence): a mark in the log directory records that manifests cover this server's
  // writes to a region that it closed. The marks are removed when the logs with the region's entries are covered.
  void MarkFlushed(const std::string& encoded_name, std::uint64_t sequence);
  // Returns the metrics of all logs together, and the number of files that no manifest covers.
  [[nodiscard]] ServerLog::Metrics GetMetrics() const;
  [[nodiscard]] std::size_t FileCount() const;
  // Returns the files of the log of ordinary regions, oldest first; for replication, which may need some longer than
  // regions.
  [[nodiscard]] std::vector<ServerLog::FileInfo> Files() const;
  // See ServerLog::KeepFrom; for the log of ordinary regions.
  void KeepFrom(std::uint64_t number);
  // Closes the current log files and begins new ones.
  [[nodiscard]] Status Roll();
  // Ends the logs; call after everything that uses them.
  void Stop();

 private:
  struct FlushedRegion {
    std::string mark;
    std::uint64_t log = 0;  // number of the newest log file that may have entries of the region
  };

  [[nodiscard]] Result<std::unique_ptr<ServerLog>> MakeLog(const std::string& prefix);
  [[nodiscard]] std::vector<ServerLog*> Logs() const;
  void RemoveFlushedMarks(std::uint64_t first_log);
  // Returns the regions that keep the oldest needed file, when more files are needed than the limit; else none.
  [[nodiscard]] std::vector<std::string> RegionsToFlush(const ServerLog& log) const;

  const WalOptions options_;
  const OpenRegions& regions_;
  Flusher& flusher_;
  const Die die_;
  io::FencedDirectory* directory_ = nullptr;  // set once, before the first order

  Mutex making_log_;
  mutable Mutex mutex_;
  std::unique_ptr<ServerLog> log_ GUARDED_BY(mutex_);  // never changes once it exists
  std::unique_ptr<ServerLog> meta_log_ GUARDED_BY(mutex_);
  std::map<std::string, FlushedRegion> flushed_ GUARDED_BY(mutex_);  // closed regions, by encoded name
};

}  // namespace ratchet::regionserver
