// OnlineWatch: compares what servers say they have open with the master's picture, as heartbeats come. Each heartbeat
// looks at what has changed since the one before, in the server's list or in the picture, at what could not be judged
// yet, and at some of the rest in turn: so it costs what has changed, and nothing is passed over for good.
//
// Thread-safe; calls the region directory under its lock.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "master/state/master_options.h"
#include "master/state/region_directory.h"
#include "master/state/server_list.h"

namespace ratchet::master {

struct MasterEnv;

class OnlineWatch {
 public:
  using Options = ReconcilerOptions;
  // What one heartbeat has shown.
  struct Findings {
    bool taken = false;                                      // the list; else nothing was looked at
    std::uint64_t number = 0;                                // of the list that is here now
    std::vector<std::pair<std::string, std::string>> notes;  // encoded name, what
    std::string expire;                                      // why the server is to be expired; empty: it is not
    std::vector<RegionNode> missing;                         // settled there by the picture, and not in the list
  };
  OnlineWatch(MasterEnv& env, Options options) : env_(env), options_(options) {}

  Findings Look(const ServerName& server, const RegionList& list);
  // S71: each online server has sent a list without the region since its node last changed, and none is being
  // recovered.
  [[nodiscard]] bool AllHaveSaid(const RegionNode& node);
  // Forgets servers that are not online. Call now and then.
  void ForgetGone();
  // How many regions were looked at so far. Tests count on it.
  [[nodiscard]] std::uint64_t looked_at() const;

 private:
  struct Watched {
    ServerList list;
    std::uint64_t seen = 0;  // version of the picture that the last look took into account
    std::set<std::string> open_questions;
    std::map<std::string, std::uint32_t> strikes;
    bool loaded = false;      // hbase:meta was, at the last look: before, all regions count as unknown
    std::string listed_turn;  // the last ones whose turn it was
    std::string placed_turn;
  };
  void Gather(const ServerName& server, Watched& watched, std::vector<std::string> changed,
              std::set<std::string>* names) REQUIRES(mutex_);
  // True: it has to be looked at again by the next heartbeat.
  bool Judge(const ServerName& server, Watched& watched, const std::string& encoded, TimePoint now, Findings* findings,
             std::map<std::string, std::string>* contradictions) REQUIRES(mutex_);
  void Strike(Watched& watched, const std::map<std::string, std::string>& contradictions, Findings* findings)
      REQUIRES(mutex_);

  MasterEnv& env_;
  const Options options_;
  mutable Mutex mutex_;
  std::map<ServerName, Watched> servers_ GUARDED_BY(mutex_);
  std::uint64_t looked_at_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::master
