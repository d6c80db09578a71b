// Reconciler: heartbeats only detect. A server's list of open regions that contradicts the master's picture for longer than
// a second is looked at again, repaired where that is safe, and a server that goes on contradicting is expired, which
// fences it: nobody ever serves what the master does not know of (design, section 3). Beside the heartbeats it looks at
// regions that nobody looks after, and compares memory with hbase:meta. What it found and did is kept for operators.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "master/assignment/meta_comparison.h"

namespace ratchet::master {

struct MasterEnv;
struct RegionNode;

// A region that a server says it has open, and under which order.
struct OnlineRegion {
  std::string encoded;
  std::uint64_t open_seq = 0;  // 0: not told
};

struct ReconcilerOptions {
  Millis grace{1'000};         // a picture younger than this is not disagreed with (seed: lastUpdate)
  std::uint32_t strikes = 3;   // consecutive contradicting heartbeats before the server is expired
};

// What it did, newest last; bounded.
struct ReconcilerFinding {
  std::int64_t at_ms = 0;
  ServerName server;    // without a host: no server is concerned
  std::string encoded;  // empty: no single region is concerned
  std::string what;     // what was wrong, and what was done about it
};

class Reconciler {
 public:
  Reconciler(MasterEnv& env, ReconcilerOptions options);
  // Call after ServerManager::Heartbeat said Ok. `online`: ALL regions that the server has open.
  void OnHeartbeat(const ServerName& server, const std::vector<OnlineRegion>& online);
  // A region whose procedure has ended without giving it up (an operator bypassed it): takes it from that procedure. A region
  // open here according to memory, whose server is neither online nor being recovered: expires that server. A
  // region of an enabled table that is neither open nor closed and that no procedure looks after: assigns it, and one whose row
  // names no server only when each server has said that it does not have it (S71). A table that
  // whoever was enabling, creating or disabling it has left half-way: has that finished. A descriptor that could not be read
  // is read again (S68). Call every few seconds.
  void Sweep();
  // See MetaComparison::Run. Call every minute.
  void CompareWithMeta(std::function<void(Status)> done) { comparison_.Run(std::move(done)); }
  [[nodiscard]] std::vector<ReconcilerFinding> Findings() const;
  // What stands still until somebody puts it right, with its cause and what to do. For `status`.
  [[nodiscard]] std::vector<std::string> Problems() const;
  // See MetaComparison::Doubts.
  [[nodiscard]] std::map<std::string, std::string> Doubts() const { return comparison_.Doubts(); }

 private:
  void Note(const ServerName& server, const std::string& encoded, std::string what) REQUIRES(mutex_);
  void DisownEnded();
  void ExpireUnknownServers();
  void AssignLeftBehind();
  [[nodiscard]] bool AllHaveSaid(const RegionNode& node) REQUIRES(mutex_);
  void FinishTables();
  void ReadSchemasAgain();
  MasterEnv& env_;
  const ReconcilerOptions options_;
  mutable Mutex mutex_;
  std::map<ServerName, std::map<std::string, std::uint32_t>> strikes_ GUARDED_BY(mutex_);
  // When each server's list of open regions was last looked at; of servers that are online.
  std::map<ServerName, TimePoint> heard_ GUARDED_BY(mutex_);
  std::vector<ReconcilerFinding> findings_ GUARDED_BY(mutex_);
  // Tables left half-way, by the change of state that left them so: when somebody was last sent to finish them.
  std::map<std::pair<TableName, std::uint64_t>, TimePoint> asked_ GUARDED_BY(mutex_);
  MetaComparison comparison_;
};

}  // namespace ratchet::master
