// Placement: chooses the server for a region. Its only state is the recent plans, so that a thousand regions placed at
// once are spread although none is open yet.
//
// Order of preference: the requested target; with `retain`, the last server of the region or a newer one at its
// address; for a region that was never open, the server with the fewest current plans of its table (otherwise all
// regions of a new table would go to an empty server); the least loaded other server, equals in turn. Servers to avoid
// are chosen only if no other exists, because the region must be open somewhere. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "master/policy/server_choice.h"

namespace ratchet::master {

struct PlacementRequest {
  std::string encoded;               // the region
  std::optional<ServerName> target;  // requested
  std::optional<ServerName> last_host;
  bool retain = false;            // prefer last_host
  std::vector<ServerName> avoid;  // servers that refused the region, or that it must leave
  std::string table;              // empty: only the load of the servers is used
};

class Placement {
 public:
  // Returns the numbers of regions of these servers, in the same order. Called without the lock of Placement.
  using LoadOf = std::function<std::vector<std::size_t>(const std::vector<ServerName>& servers)>;
  // Each choice compares at most this number of servers. With more servers, the compared ones rotate.
  static constexpr std::size_t kComparedAtOnce = 32;

  // `assignable`: servers that are online and not draining. Returns nullopt if there is no server.
  std::optional<ServerName> Choose(const PlacementRequest& request, const std::vector<ServerName>& assignable,
                                   const LoadOf& load_of);
  [[nodiscard]] AssignableCache& assignable() { return assignable_; }
  // Ends the plan for this region: it became the location, or was dropped.
  void Settled(const std::string& encoded);
  // Number of servers that Choose has weighed; for tests that the cost of a plan does not grow with other plans.
  [[nodiscard]] std::uint64_t weighed() const;

 private:
  std::optional<ServerName> Prefer(const PlacementRequest& request, const std::vector<ServerName>& assignable) const;

  // Plans of one table since it last had no unsettled plan.
  struct TablePlans {
    std::map<ServerName, std::size_t> placed;
    std::size_t unsettled = 0;
  };
  struct RegionPlan {
    ServerName server;
    std::string table;
  };

  [[nodiscard]] std::vector<ServerName> Candidates(const PlacementRequest& request,
                                                   const std::vector<ServerName>& assignable);
  void Withdraw(const std::string& encoded) REQUIRES(mutex_);
  void Plan(const PlacementRequest& request, const ServerName& server) REQUIRES(mutex_);
  void Forget(const std::string& encoded) REQUIRES(mutex_);

  AssignableCache assignable_;
  mutable Mutex mutex_;
  std::map<std::string, RegionPlan> plans_ GUARDED_BY(mutex_);
  std::map<ServerName, std::size_t> planned_ GUARDED_BY(mutex_);  // number of plans_ for each server
  std::map<std::string, TablePlans> tables_ GUARDED_BY(mutex_);
  std::uint64_t weighed_ GUARDED_BY(mutex_) = 0;
  std::uint64_t turn_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::master
