// Servers that were asked to stop: their regions are opened elsewhere before they end (S73).
//
// A leaving server says so in each heartbeat, so that every master learns of it. It is given no new regions, and each
// region that it has is moved off by an ordinary MOVE: hbase:meta first, because the other moves write to it. Nothing
// rests on this: when the server ends, early or late, its end is handled like any other (ServerCrash: fence, seal,
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

class Departures {
 public:
  explicit Departures(MasterEnv& env) : env_(env) {}

  // At a heartbeat of an online server that is leaving. True: it need not wait any longer, because all of its regions
  // are open elsewhere, or because no other server could take them.
  [[nodiscard]] bool OnLeaving(const ServerName& server);

  // At most so many moves off one server are under way at a time.
  static constexpr std::size_t kMovesAtOnce = 256;

 private:
  struct Move {
    bool submitting = true;
    ProcId pid;
  };
  using Moves = std::map<std::string, Move>;  // by encoded name: what has been moved off, until it has arrived

  void ForgetTheGone();
  [[nodiscard]] bool UnderWay(const Move& move) const;
  // What is to be moved off now; `nothing_left`: no region is on the server, or on its way from it.
  [[nodiscard]] std::vector<RegionInfo> NextMoves(const ServerName& server, bool* nothing_left);

  MasterEnv& env_;
  Mutex mutex_;
  std::map<ServerName, Moves> leaving_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
