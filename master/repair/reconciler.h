// Reconciler: heartbeats only detect. If a server's list of open regions contradicts the in-memory state for longer
// than a second, the reconciler checks again and repairs where that is safe. A server that keeps contradicting is
// expired, which fences it: no server permanently serves a region that the master does not know of. The reconciler also
// checks regions that no procedure owns, and compares memory with hbase:meta. Its findings and repairs are kept for
// operators. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "master/repair/meta_comparison.h"
#include "master/repair/online_watch.h"
#include "master/repair/repair_runner.h"
#include "master/repair/sweep.h"
#include "master/repair/table_survey.h"

namespace ratchet::master {

class Reconciler {
 public:
  Reconciler(MasterEnv& env, ServerManager& manager, ReconcilerOptions options);
  // Call after Membership::Heartbeat returned Ok. Returns the number of the server's list that the master has now;
  // 0 if it has none, so that the server sends a full one.
  std::uint64_t OnHeartbeat(const ServerName& server, const RegionList& list);
  // `online`: ALL regions that the server has open.
  void OnHeartbeat(const ServerName& server, std::vector<OnlineRegion> online);
  // Repairs the state that procedures left behind when an operator ended them before their last step (S65: transition
  // number reserved first; S66: table row last in, first out). Call every few seconds, also before hbase:meta is
  // loaded:
  //  - a crashed server whose crash procedure has ended or was never submitted gets a new one (ServerManager::Sweep);
  //  - a slot for splitting logs whose holder has ended is released;
  //  - a region whose owner has ended is released;
  //  - hbase:meta is created if it never was, and assigned if it is not open and no procedure owns it.
  // Once hbase:meta is loaded:
  //  - the unknown server of a region's location is expired;
  //  - a region that contradicts its table's state and has no owner is assigned; in a disabled table this closes it;
  //  - an EnableTable, CreateTable or DisableTable that was ended half-way is finished;
  //  - a region whose row names no server is assigned when each server has reported that it does not have it (S71: ask
  //    servers for unplaced regions);
  //  - a descriptor that could not be read is read again (S68: unreadable schema is an error);
  //  - a split or merged region that is no longer needed is removed (catalog_janitor.h).
  // TakeSweepSnapshot reads the facts, Diff decides, and RepairRunner acts. Each call looks only at candidates for
  // repair, and at a bounded number of regions; the next call continues.
  void Sweep();
  // Runs the catalog janitor now. Returns the number of procedures that it has submitted and that have not ended. Call
  // only after hbase:meta is loaded.
  std::size_t RemoveGarbageNow();
  // Checks the next table's directories and keys (TableSurvey). Call every few seconds, on a thread that may block for
  // long.
  void Survey();
  // Runs a sweep and a survey of every table for an operator; this may take long (MasterEnv::slow_work). Calls `done`
  // once, afterwards. kUnavailable: such a check is already running, or too much other work waits for the storage.
  void LookNow(const std::function<void(Status)>& done = [](const Status&) {});
  // See MetaComparison::Run. Call every minute.
  void CompareWithMeta(std::function<void(Status)> done) { comparison_.Run(std::move(done)); }
  [[nodiscard]] std::vector<ReconcilerFinding> Findings() const { return runner_.Findings(); }
  // Problems that wait for an operator, with cause and remedy. For `ratchet status`.
  [[nodiscard]] std::vector<std::string> Problems() const;
  // See MetaComparison::Inconsistencies.
  [[nodiscard]] std::map<std::string, std::string> Inconsistencies() const { return comparison_.Inconsistencies(); }
  // Regions with edits in quarantine/edits at the last check, with the number of files (S116: missing directory is not
  // evidence).
  [[nodiscard]] std::map<std::string, std::size_t> KeptEdits() const;
  [[nodiscard]] const OnlineWatch& watch() const { return watch_; }

 private:
  void RemoveGarbage();
  void LookForKeptEdits();

  MasterEnv& env_;
  ServerManager& manager_;
  const ReconcilerOptions options_;
  RepairRunner runner_;
  OnlineWatch watch_;
  MetaComparison comparison_;
  TableSurvey survey_;
  mutable Mutex mutex_;
  // Where the next sweep continues. No lock is held between reading and setting a position: two sweeps at the same time
  // look at the same regions.
  SweepPositions positions_ GUARDED_BY(mutex_);
  std::string garbage_position_ GUARDED_BY(mutex_);
  TimePoint next_garbage_ GUARDED_BY(mutex_){};  // time of the next search for garbage
  std::map<std::string, std::size_t> kept_edits_ GUARDED_BY(mutex_);
  std::atomic<bool> looking_{false};  // LookNow
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
