// Log directories of servers that no master has recorded: of a server that has made its logs and not registered yet, or
// that died before it could. The first keeps its logs; those of the second are moved into the archive, without a crash
// procedure, because there is nothing to recover (S34). A server that is in ZooKeeper, and logs that were seen for less
// than the grace, are left alone.
//
// Not thread-safe: one chore runs it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"

namespace ratchet::master {

class PosixClusterFiles;

class StrayLogs {
 public:
  struct Deps {
    PosixClusterFiles& files;
    const Clock& clock;
    Epoch epoch;
    // hbase:meta is loaded: until then a server of lost records cannot be told from one that never had any.
    std::function<bool()> is_ready;
    // Recorded, registering, or with a crash procedure.
    std::function<bool(const ServerName& server)> is_known;
    // A fresh read of ZooKeeper; an error: it does not answer now.
    std::function<Result<std::vector<ServerName>>()> read_live;
    // Its logs need a crash procedure after all.
    std::function<void(const ServerName& server, const std::string& why)> expire;
    Millis grace{60'000};
  };
  // What `deps` refers to must outlive it.
  explicit StrayLogs(Deps deps) : deps_(std::move(deps)) {}

  // One look. Returns the servers whose logs went to the archive. After an error the rest is left for the next run.
  [[nodiscard]] Result<std::vector<ServerName>> RunOnce();

 private:
  const Deps deps_;
  std::map<ServerName, TimePoint> since_;  // stray directories of the last look, and when each was seen first
};

}  // namespace ratchet::master
