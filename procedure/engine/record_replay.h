// Compares the records of a store with the step tables of this program: the check before an upgrade. Reads only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/store/store_contents.h"

namespace ratchet::procedure {

struct ReplayFinding {
  ProcId pid;
  std::string type;  // empty: the record cannot be read
  std::string why;
  bool would_park = true;  // false: the procedure has ended, or continues; only its history disagrees with the table
};

struct ReplayReport {
  std::size_t records = 0;
  std::size_t unfinished = 0;
  std::size_t steps = 0;                // steps in the recorded histories
  std::vector<ReplayFinding> findings;  // in the order of pids, at most kMostFindings
  std::size_t parked = 0;               // number of all procedures that would be parked
  std::size_t told_wrongly = 0;         // of all
};
inline constexpr std::size_t kMostFindings = 1000;

// Reports procedures that a load would park: an unknown type, data of a newer version or that cannot be read or used, a
// state (to run or to undo) that the table does not have. Also reports histories that disagree with the table: a step
// that the table does not have, or an outcome that such a step cannot have.
[[nodiscard]] ReplayReport ReplayRecords(const ProcedureRegistry& registry, const StoreContents& contents);

}  // namespace ratchet::procedure
