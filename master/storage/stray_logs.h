// Handles log directories of servers that no master has recorded: the server has made its logs and not registered yet,
// or it died before. A dead server's logs are moved to the archive without a crash procedure, because there is nothing
// to recover (S34: which servers may be dead). Logs of a server in ZooKeeper, and logs seen for less than the grace
// time, stay.
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
    // Returns true after hbase:meta is loaded: before that, a server with lost records cannot be distinguished from one
    // without records.
    std::function<bool()> is_ready;
    // Returns true if the server is recorded, registering, or has a crash procedure.
    std::function<bool(const ServerName& server)> is_known;
    // Reads ZooKeeper's list of servers; an error if it does not answer.
    std::function<Result<std::vector<ServerName>>()> read_live;
    // Called if the server's logs need a crash procedure after all.
    std::function<void(const ServerName& server, const std::string& why)> expire;
    Millis grace{60'000};
  };
  // The objects in `deps` must outlive this object.
  explicit StrayLogs(Deps deps) : deps_(std::move(deps)) {}

  // Checks all log directories once. Returns the servers whose logs were archived. After an error the next run does the
  // rest.
  [[nodiscard]] Result<std::vector<ServerName>> RunOnce();

 private:
  const Deps deps_;
  // stray directories at the last check, with the time when each was first seen
  std::map<ServerName, TimePoint> since_;
};

}  // namespace ratchet::master
