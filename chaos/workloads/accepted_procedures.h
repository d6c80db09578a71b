// Every procedure that a master has accepted from a load, and whether each has ended exactly once. Thread-safe.
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

// What is wrong with a procedure whose end its client has seen as `outcome`; empty when nothing is. Pure.
[[nodiscard]] std::string CheckEndedOnce(DdlOutcome outcome, const pb::ProcedureInfo& procedure);

class AcceptedProcedures {
 public:
  // `what`: "disable of table t". Nothing is kept of requests that were not accepted.
  void Add(const std::string& what, const DdlEnd& end);
  // Adds those that a load did not see end while it ran (pid and what), and waits for the end of each up to `patience`.
  void Await(client::Connection& connection, const std::map<std::uint64_t, std::string>& unfinished, Millis patience);
  [[nodiscard]] std::size_t size() const;
  // Asks the master for every one of them. The finding counts those that it has not forgotten (results are kept
  // for a while only).
  [[nodiscard]] Finding Check(client::Connection& connection) const;
  // "<pid> <outcome> <what>", one a line.
  [[nodiscard]] std::string ToText() const;

 private:
  struct Accepted {
    std::string what;
    DdlOutcome outcome = DdlOutcome::kUnfinished;
  };
  mutable Mutex mutex_;
  std::map<std::uint64_t, Accepted> procedures_ GUARDED_BY(mutex_);
  std::vector<std::string> wrong_ GUARDED_BY(mutex_);  // seen while adding
};

}  // namespace ratchet::chaos
