// Administrators: random requests, each with a nonce, repeated at every new master until answered, then watched to
// their end. Answers must stay true. Single-threaded.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/master_sim/request.h"
#include "tests/master_sim/upkeep.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::simulation {

// Number of successful requests of each kind for one table.
struct TableCount {
  int created = 0;
  int enabled = 0;
  int disabled = 0;
  int deleted = 0;
};

class AdminClient {
 public:
  // `reshapes`: they split and merge regions. `upkeep`: may be null; must outlive this object.
  AdminClient(sim::SimCluster& cluster, Prng prng, bool reshapes, Upkeep* upkeep)
      : cluster_(cluster), prng_(prng), reshapes_(reshapes), upkeep_(upkeep) {}

  // Makes and sends one more request.
  void Invent();
  // Marks all requests to the previous master as not in progress.
  void OnNewMaster();
  // Sends requests without an answer, repeats some with one, and checks which have ended.
  void Look();
  [[nodiscard]] bool AllOver() const;

  [[nodiscard]] const std::deque<Request>& requests() const { return requests_; }
  [[nodiscard]] std::map<TableName, TableCount> Count() const;
  // Returns the tables of the requests of these procedures.
  [[nodiscard]] std::set<TableName> TablesOf(const std::set<ProcId>& pids) const;
  [[nodiscard]] std::set<std::string> AskedToClose() const;  // encoded names
  [[nodiscard]] bool AnyReshapeOf(const std::set<ProcId>& bypassed) const;

 private:
  void Ask(std::size_t index);
  void MakeDrain(Request& request) const;
  void MakeReshape(Request& request) const;
  [[nodiscard]] bool LeftToAnother(const Request& disable) const;
  void Answered(std::size_t index, sim::SimMaster& by, const Result<ProcId>& pid);
  [[nodiscard]] std::optional<std::string> AnyRegion();

  sim::SimCluster& cluster_;
  Prng prng_;
  const bool reshapes_;
  Upkeep* const upkeep_;
  std::deque<Request> requests_;
  std::uint64_t life_ = 0;  // number of the current master
};

}  // namespace ratchet::simulation
