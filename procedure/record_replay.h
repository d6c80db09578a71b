// The records of a store against the step tables of this program: the check before an upgrade. Reads only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/author/procedure_registry.h"
#include "procedure/store/store_contents.h"

namespace ratchet::procedure {

struct ReplayFinding {
  ProcId pid;
  std::string type;  // empty: the record cannot be read
  std::string why;
  bool would_park = true;  // false: the procedure has ended, or goes on; only its past is told wrongly
};

struct ReplayReport {
  std::size_t records = 0;
  std::size_t unfinished = 0;
  std::size_t steps = 0;                // of recorded histories
  std::vector<ReplayFinding> findings;  // in the order of pids, at most kMostFindings
  std::size_t parked = 0;               // that would be parked, of all
  std::size_t told_wrongly = 0;         // of all
};
inline constexpr std::size_t kMostFindings = 1000;

// What would be parked at a load: a type that is unknown, data of a newer version or that cannot be read or used, a
// state, to run or to undo, that the table does not have. And what would be told wrongly: a step of the history that
// the table does not have, or that has ended in a way in which such a step cannot end.
[[nodiscard]] ReplayReport ReplayRecords(const ProcedureRegistry& registry, const StoreContents& contents);

}  // namespace ratchet::procedure
