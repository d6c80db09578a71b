// Reads a procedure store without claiming it, for tools: its records, its damage, and whether this program can
// continue its procedures. The store may be in use, because nothing is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/store.h"

namespace ratchet::procedure {

struct OfflineStore {
  bool found = false;                    // the directory has a segment
  std::vector<ProcedureUpsert> records;  // the newest record of each live pid, ordered by pid
  std::map<std::string, std::string> system_records;
  ProcId max_pid;  // the largest that was ever stored, deleted ones included
  std::uint64_t last_sequence = 0;
  std::vector<std::string> damage;  // "segment.3.7 at offset 4711: a record fails its checksum"
};

// `path`: a cluster's root directory, or its 'procedures' directory. Creates and claims nothing.
[[nodiscard]] Result<std::unique_ptr<io::Directory>> OpenStoreDirectory(const std::string& path);

// Returns an error only when the disk fails. A damaged record is left out and listed in OfflineStore::damage.
[[nodiscard]] Result<OfflineStore> ReadOfflineStore(io::Directory& directory);

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

// The check before an upgrade: compares the records of a store with the step tables of this program. Reports procedures
// that a load would park: an unknown type, data of a newer version or that cannot be read or used, a state (to run or
// to undo) that the table does not have. Also reports histories that disagree with the table: a step that the table
// does not have, or an outcome that such a step cannot have.
[[nodiscard]] ReplayReport ReplayRecords(const ProcedureRegistry& registry, const OfflineStore& store);

}  // namespace ratchet::procedure
