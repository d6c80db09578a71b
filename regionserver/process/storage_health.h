// Watches how the storage answers this server: for its reports, for regular checks, and for the withdrawal when the
// storage hangs and the master reports that it works for other servers (S76: withdraw with permission).
//
// Owner: the process. Thread-safe; no method waits for storage.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/io/disk.h"
#include "common/io/storage_watch.h"
#include "common/model/proto/region_server_status.pb.h"

namespace ratchet::regionserver {

struct StorageHealthOptions {
  Live<Millis> limit{Millis{10'000}};  // 0: never withdraws

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddMillis(
        {"sync-timeout-ms",
         "If a write or sync is unfinished for this long and the storage answers other servers, this server ends and "
         "they get its regions; 0: never.",
         {"hbase.regionserver.wal.sync.timeout"}},
        &limit, Millis(0), Millis(3'600'000));
  }
};

struct StorageHealthParts {
  std::function<void()> look;                     // CHECK of the log directory, and other periodic work there
  std::function<io::Directory*()> log_directory;  // returns the place for a proof; null: none yet
  std::function<void()> leave;                    // closes the ZooKeeper session; bounded, needs no storage
  std::function<void(const std::string& why)> end;
  std::function<void(const std::string& why)> last_resort;
};

// A file in the server's log directory, removed with the directory; splitters and cleaners ignore it.
inline constexpr const char* kProofFile = "proof";

class StorageHealth {
 public:
  // `clock`, `watch` and what the parts use outlive this object. `limit` 0: never withdraws.
  StorageHealth(const Clock& clock, io::SyncWatch& watch, Live<Millis> limit, StorageHealthParts parts);

  // Starts a check of the storage. Also writes a proof if the master asked for one, if the master does not answer, or
  // if no other work has used the storage for five seconds.
  void Look();
  // Takes the master's answer to a report; null: it has not accepted the report.
  void Answered(const hbase::pb::RegionServerReportResponse* answer);
  void Fill(hbase::pb::StorageReport& report) const;
  void Stop() { watch_.Stop(); }

 private:
  void Prove();

  const Clock& clock_;
  const StorageHealthParts parts_;
  std::atomic<bool> asked_{true};
  std::atomic<TimePoint::rep> answered_at_;
  std::unique_ptr<io::WritableFile> proof_;  // used by the checking thread
  bool proof_failed_ = false;                // used by the checking thread
  io::StorageWatch watch_;                   // last, because its threads use the other members
};

}  // namespace ratchet::regionserver
