// OnlineWatch: compares the open regions that heartbeats list with the master's in-memory state. Each heartbeat checks
// the regions that changed since the last heartbeat on either side, those that could not be judged before, and some of
// the rest in turn. So the cost follows the number of changes, and every region is checked eventually.
//
// Thread-safe. No lock is held while the region directory is called: a check takes the server's notes out of the watch,
// and puts them back at its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/reported_regions.h"
#include "master/cluster/server_share.h"
#include "master/procedures/core/master_options.h"

namespace ratchet::master {

struct MasterEnv;

class OnlineWatch {
 public:
  using Options = ReconcilerOptions;
  // Result of one heartbeat.
  struct Findings {
    // The list was accepted. If false, nothing was checked, also because another check of this server is in progress.
    bool taken = false;
    std::uint64_t number = 0;                                // number of the list that the master has now
    std::vector<std::pair<std::string, std::string>> notes;  // encoded name, what
    std::string expire;                                      // why the server must be expired; empty if it need not
    std::vector<RegionNode> missing;                         // open there by the in-memory state, and not in the list
  };
  OnlineWatch(MasterEnv& env, Options options) : env_(env), options_(options) {}

  Findings Look(const ServerName& server, const RegionList& list);
  // S71 (ask servers for unplaced regions): returns true if each online server has sent a list without the region since
  // its node last changed, and no server is being recovered.
  [[nodiscard]] bool AllHaveSaid(const RegionNode& node);
  // Forgets servers that are not online. Call periodically.
  void ForgetGone();
  // Number of regions checked so far; for tests.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_.load(); }

 private:
  struct Watched {
    ReportedRegions list;
    std::uint64_t seen = 0;  // version of the in-memory state at the last check
    // Regions of the list with which the in-memory state did not agree at the last check, and some others. All other
    // regions of the list agree with it as of `seen`, and a later change of them is a change at this server.
    std::set<std::string> open_questions;
    std::map<std::string, std::uint32_t> strikes;
    bool loaded = false;          // hbase:meta was loaded at the last check; before that, all regions count as unknown
    std::string listed_position;  // the last regions that were checked in turn
    std::string placed_position;
  };
  void Gather(const ServerName& server, Watched& watched, std::vector<std::string> changed,
              std::set<std::string>* names);
  // Returns true if the next heartbeat must check the region again.
  bool Judge(const ServerName& server, Watched& watched, const std::string& encoded, TimePoint now, Findings* findings,
             std::map<std::string, std::string>* contradictions);
  void Strike(Watched& watched, const std::map<std::string, std::string>& contradictions, Findings* findings) const;
  // Empty: another check of the server is in progress.
  [[nodiscard]] std::unique_ptr<Watched> Detach(const ServerName& server);
  void PutBack(const ServerName& server, std::unique_ptr<Watched> watched);

  MasterEnv& env_;
  const Options options_;
  mutable Mutex mutex_;
  std::map<ServerName, std::unique_ptr<Watched>> servers_ GUARDED_BY(mutex_);  // null: a check has taken it out
  std::atomic<std::uint64_t> looked_at_{0};
  ServerShare looks_{kLooksASecond};
};

}  // namespace ratchet::master
