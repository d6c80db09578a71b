// Records every procedure that a master has accepted from a load, and checks that each has ended exactly once.
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/workload.h"
#include "common/base/mutex.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

// Returns the error of a procedure whose end the client has seen as `outcome`, or an empty string. Pure.
[[nodiscard]] std::string CheckEndedOnce(DdlOutcome outcome, const pb::ProcedureInfo& procedure);

class AcceptedProcedures {
 public:
  // `what` is for example "disable of table t". Requests that were not accepted are not recorded.
  void Add(const std::string& what, const DdlEnd& end);
  // Adds the procedures (pid and text) whose end the load did not see, and waits for the end of each up to `patience`.
  void Await(client::Connection& connection, const std::map<std::uint64_t, std::string>& unfinished, Millis patience);
  [[nodiscard]] std::size_t size() const;
  // Asks the master for all of them. The finding counts those that the master has not forgotten (results are kept for a
  // while only).
  [[nodiscard]] Finding Check(client::Connection& connection) const;
  // Returns "<pid> <outcome> <what>", one per line.
  [[nodiscard]] std::string ToText() const;

 private:
  struct Accepted {
    std::string what;
    DdlOutcome outcome = DdlOutcome::kUnfinished;
  };
  mutable Mutex mutex_;
  std::map<std::uint64_t, Accepted> procedures_ GUARDED_BY(mutex_);
  std::vector<std::string> wrong_ GUARDED_BY(mutex_);  // errors found while adding
};

}  // namespace ratchet::chaos
