// Placement: on which server a region goes. Pure apart from the memory of what it has just planned, so that a thousand
// regions placed at once spread out although none of them is open yet.
//
// Order of preference: the target that was asked for; the server (or a younger one at the same address) that had the
// region last, when `retain` asks for it; for a region that no server has had yet, the one with the fewest of the
// regions that its table is given at this time, as those of a new table would otherwise all go to a server that is
// still empty; the least loaded of the others, equals in turn. Servers to avoid are chosen only when there is nothing
// else: a region has to be somewhere. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/server_name.h"

namespace ratchet::master {

struct PlacementRequest {
  std::string encoded;               // the region
  std::optional<ServerName> target;  // asked for
  std::optional<ServerName> last_host;
  bool retain = false;            // prefer last_host
  std::vector<ServerName> avoid;  // refused it, or it is to leave it
  std::string table;              // empty: only the servers' load counts
};

class Placement {
 public:
  // `assignable`: servers that are online and not draining; `load`: regions per server. Nothing: there is no server.
  std::optional<ServerName> Choose(const PlacementRequest& request, const std::vector<ServerName>& assignable,
                                   const std::map<ServerName, std::size_t>& load);
  // The plan for this region has become its location (or was dropped).
  void Settled(const std::string& encoded);
  // How many servers Choose has weighed so far. Tests count on it: what a plan costs does not grow with the plans
  // beside it.
  [[nodiscard]] std::uint64_t weighed() const;

 private:
  std::optional<ServerName> Prefer(const PlacementRequest& request, const std::vector<ServerName>& assignable) const;

  // The regions of one table that have been planned since it had a plan that is not settled.
  struct TablePlans {
    std::map<ServerName, std::size_t> placed;
    std::size_t unsettled = 0;
  };
  struct RegionPlan {
    ServerName server;
    std::string table;
  };

  void Withdraw(const std::string& encoded) REQUIRES(mutex_);
  void Plan(const PlacementRequest& request, const ServerName& server) REQUIRES(mutex_);
  void Forget(const std::string& encoded) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, RegionPlan> plans_ GUARDED_BY(mutex_);
  std::map<ServerName, std::size_t> planned_ GUARDED_BY(mutex_);  // plans_, counted
  std::map<std::string, TablePlans> tables_ GUARDED_BY(mutex_);
  std::uint64_t weighed_ GUARDED_BY(mutex_) = 0;
  std::uint64_t turn_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::master
