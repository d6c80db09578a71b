// Reconciler: heartbeats only detect. A server's list of open regions that contradicts the master's picture for longer
// than a second is looked at again, repaired where that is safe, and a server that goes on contradicting is expired,
// which fences it: no server ever serves what the master does not know of (design, section 3). Beside the heartbeats it
// looks at regions that no procedure owns, and compares memory with hbase:meta. What it found and did is kept for
// operators. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "master/control/meta_comparison.h"
#include "master/control/online_watch.h"
#include "master/control/table_survey.h"

namespace ratchet::procedure {
class Procedure;
}

namespace ratchet::master {

struct MasterEnv;
class ServerManager;
struct RegionNode;

// What it did, newest last; bounded.
struct ReconcilerFinding {
  std::int64_t at_ms = 0;
  ServerName server;    // without a host: no server is concerned
  std::string encoded;  // empty: no single region is concerned
  std::string what;     // what was wrong, and what was done about it
};

class Reconciler {
 public:
  Reconciler(MasterEnv& env, ServerManager& manager, ReconcilerOptions options);
  // Call after ServerDirectory::Heartbeat said Ok. The answer is the number of the server's list that is known now; 0:
  // none, so that the server sends a full one.
  std::uint64_t OnHeartbeat(const ServerName& server, const RegionList& list);
  // `online`: ALL regions that the server has open.
  void OnHeartbeat(const ServerName& server, std::vector<OnlineRegion> online);
  // Puts right what procedures have left that an operator ended before their last step (S65, S66). Every few seconds,
  // also before hbase:meta is loaded:
  //  - a crashed server whose crash procedure has ended, or never came to be: another one (ServerManager::Sweep);
  //  - a place for splitting logs whose holder has ended: free again;
  //  - a region whose owner has ended: taken from it;
  //  - hbase:meta that was never made, or is not open and no procedure owns it: made, assigned.
  // Once it is loaded:
  //  - a region said to be at an unknown server: that server is taken for dead;
  //  - a region that is not as its table's state asks for, and that no procedure owns: assigned, which closes it where
  //  the table
  //    is disabled;
  //  - a table that its enabling, creating or disabling procedure has left half-way: finished.
  //  - a region whose row names no server: assigned when each server has said that it does not have it (S71);
  //  - a descriptor that could not be read: read again (S68);
  //  - a region that was split or merged and is needed no more: removed (catalog_janitor.h).
  // Nothing is submitted a second time before the first has ended. It looks at what needs something done, not at all
  // that exists, and at a bounded number of regions at a time: the next call goes on.
  void Sweep();
  // The catalog janitor's turn now: how many procedures it has submitted, or had before. Only once hbase:meta is
  // loaded.
  std::size_t RemoveGarbageNow();
  // Looks at the next table's directories and keys (TableSurvey). Call every few seconds, on a thread that may take
  // long.
  void Survey();
  // What an operator asks for: a sweep, and a survey of every table, which may take long (MasterEnv::slow_work). `done`
  // once, after that. kUnavailable: such a look is under way, or too much else waits for the storage.
  void LookNow(const std::function<void(Status)>& done = [](const Status&) {});
  // See MetaComparison::Run. Call every minute.
  void CompareWithMeta(std::function<void(Status)> done) { comparison_.Run(std::move(done)); }
  [[nodiscard]] std::vector<ReconcilerFinding> Findings() const;
  // What stands still until an operator puts it right, with its cause and what to do. For `status`.
  [[nodiscard]] std::vector<std::string> Problems() const;
  // See MetaComparison::Doubts.
  [[nodiscard]] std::map<std::string, std::string> Doubts() const { return comparison_.Doubts(); }
  [[nodiscard]] const OnlineWatch& watch() const { return watch_; }

 private:
  void Note(const ServerName& server, const std::string& encoded, std::string what) REQUIRES(mutex_);
  // Submits it, unless what was submitted before for the same `key` has not ended.
  bool Send(const std::string& key, std::unique_ptr<procedure::Procedure> procedure);
  void ForgetSent();
  void FreeSplitWorkers();
  void LookAfterMeta();
  void DisownEnded();
  void ExpireUnknownServers();
  void AssignLeftBehind();
  void AssignIfLeftBehind(const RegionNode& node);
  void FinishTables();
  void ReadSchemasAgain();
  void RemoveGarbage();
  MasterEnv& env_;
  ServerManager& manager_;
  const ReconcilerOptions options_;
  mutable Mutex mutex_;
  std::vector<ReconcilerFinding> findings_ GUARDED_BY(mutex_);
  // What was submitted, by what it is for; an invalid pid: the submission is under way.
  std::map<std::string, ProcId> sent_ GUARDED_BY(mutex_);
  std::string owned_turn_ GUARDED_BY(mutex_);  // where the sweep goes on
  std::string unsettled_turn_ GUARDED_BY(mutex_);
  std::string garbage_turn_ GUARDED_BY(mutex_);
  TimePoint next_garbage_ GUARDED_BY(mutex_){};  // looked for from here on
  OnlineWatch watch_;
  MetaComparison comparison_;
  TableSurvey survey_;
  std::atomic<bool> looking_{false};          // LookNow
  std::atomic<bool> reading_schemas_{false};  // ReadSchemasAgain
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
