// How the storage answers this server: what its reports say of it, the looks at it that go with them, and the
// withdrawal when it hangs and the master says that others are better off (S76).
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

struct StorageHealthParts {
  std::function<void()> look;  // CHECK of the log directory, and what else is done there now and then
  std::function<io::Directory*()> log_directory;  // where a proof is written; null: none yet
  std::function<void()> leave;                    // gives the ZooKeeper session up; bounded, needs no storage
  std::function<void(const std::string& why)> end;
  std::function<void(const std::string& why)> last_resort;
};

// A file in the server's log directory; splitters and cleaners know no such name, and it goes with the directory.
inline constexpr const char* kProofFile = "proof";

class StorageHealth {
 public:
  // `clock`, `watch` and what the parts use outlive this object. `limit` 0: never withdraws.
  StorageHealth(const Clock& clock, io::SyncWatch& watch, Live<Millis> limit, StorageHealthParts parts);

  // Has the storage looked at, and a proof written where the master asked for one or says nothing, or nothing else has
  // tried the storage for five seconds.
  void Look();
  // The master has taken a report; null: it has not.
  void Answered(const hbase::pb::RegionServerReportResponse* answer);
  void Fill(hbase::pb::StorageReport& report) const;
  void Stop() { watch_.Stop(); }

 private:
  void Prove();

  const Clock& clock_;
  const StorageHealthParts parts_;
  std::atomic<bool> asked_{true};
  std::atomic<TimePoint::rep> answered_at_;
  std::unique_ptr<io::WritableFile> proof_;  // of the thread that looks
  bool proof_failed_ = false;                // of the same
  io::StorageWatch watch_;                   // the last: its threads use the rest
};

}  // namespace ratchet::regionserver
