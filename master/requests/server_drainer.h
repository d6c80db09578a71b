// Servers that were asked to stop: their regions are opened elsewhere before they end (S73: orderly stop).
//
// A leaving server sets a flag in each heartbeat, so that every master learns of it. It gets no new regions, and each
// of its regions is moved off by an ordinary MOVE: hbase:meta first, because the other moves write to it. Safety does
// not depend on this: when the server ends, early or late, its end is handled like any other (ServerCrash: fence, seal,
// split), which then finds no region, and no log that manifests do not cover.
//
// In memory only; bounded by the servers that are online and kMovesAtOnce. Thread-safe; does not block.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/region_info.h"
#include "common/model/server_name.h"

namespace ratchet::master {

struct MasterEnv;

class ServerDrainer {
 public:
  explicit ServerDrainer(MasterEnv& env) : env_(env) {}

  // Call at each heartbeat of an online server that is leaving. Returns true if the server may end, because all of its
  // regions are open elsewhere, or because no other server can take them.
  [[nodiscard]] bool OnLeaving(const ServerName& server);

  // Maximum number of concurrent moves off one server.
  static constexpr std::size_t kMovesAtOnce = 256;

 private:
  struct Move {
    bool submitting = true;
    ProcId pid;
  };
  using Moves = std::map<std::string, Move>;  // by encoded name: regions whose moves have not arrived

  void ForgetTheGone();
  [[nodiscard]] bool UnderWay(const Move& move) const;
  // Returns the regions to move off now. Sets `*nothing_left` if no region is on the server or in transition from it.
  [[nodiscard]] std::vector<RegionInfo> NextMoves(const ServerName& server, bool* nothing_left);

  MasterEnv& env_;
  Mutex mutex_;
  std::map<ServerName, Moves> leaving_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
