// Turns one atomic unit and the row's current content into the cells that will be logged. Runs under the locks of the
// unit's rows. The current content includes writes of the rows that are in the log's queue (S126: same fate as its
// source).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "regionserver/region/row_locks.h"
#include "regionserver/region/row_reader.h"
#include "regionserver/region/write_path.h"

namespace ratchet::regionserver {

struct MutationPlan {
  std::vector<LoggedCell> cells;  // empty: there is nothing to log (a condition is false, or a nonce was used)
  std::vector<UsedNonce> nonces;
  MutationResult result;
  std::uint64_t bytes = 0;  // growth of the log entry
};

// Checks without reading data: rows are in the region, families exist, sizes are legal.
[[nodiscard]] Status CheckMutation(const OpeningRules& opening, const AtomicMutation& unit);
// True if the planner must read the row. Then the unit must not follow another change of that row in one log entry.
[[nodiscard]] bool NeedsRead(const AtomicMutation& unit);

// Evaluates a condition against the value of a column (docs/wire-compatibility.md). Pure. `stored` is the newest value
// of the column in the condition's time range; nullopt if there is none.
[[nodiscard]] Result<bool> Holds(const Condition& condition, std::optional<std::string_view> stored);

class MutationPlanner {
 public:
  // `path` assigns timestamps (S27: rising timestamps). `locks` has the unit's rows.
  MutationPlanner(const OpeningRules& opening, RegionData& data, WritePath& path, RowLocks::Held& locks,
                  const AtomicMutation& unit);
  [[nodiscard]] Result<MutationPlan> Run();
  // Returns the oldest sequence in the log's queue from which the outcome of Run was computed, errors included; 0:
  // none.
  [[nodiscard]] std::uint64_t computed_from() const { return computed_from_; }

 private:
  void PruneStaged();
  // Returns the row's writes in the log's queue, from which the outcome is computed then; null: none.
  StagedRow* StagedOf(const std::string& row);
  const PendingCells* StagedCells(const std::string& row);
  Result<bool> AnsweredByNonce();
  NonceTable::Seen LookForNonce(const Mutation& mutation);
  Result<bool> ConditionsHold();
  Result<bool> ConditionHolds(const Condition& condition);
  Result<bool> FilterHolds(const Condition& condition);
  Status Guard();
  Status Apply(std::size_t index);
  Status ApplyPut(const Mutation& mutation);
  Status ApplyDelete(const Mutation& mutation);
  Status ApplyReadModifyWrite(const Mutation& mutation, std::vector<Cell>* result);
  static Result<std::string> NewTags(const Mutation& mutation, const Cell& change, const Cell* old);
  Result<std::string> NewValue(const Mutation& mutation, const Cell& change, const Cell* old) const;
  Result<std::vector<Cell>> ReadColumn(const std::string& row, const std::string& family, const std::string& qualifier,
                                       std::uint32_t versions, const TimeRange& range);
  Status RereadResults();
  // Refuses a cell, or its unit, that is too large.
  Status Emit(const Mutation& mutation, Cell cell);
  // Counts what the result or the log will hold. kInvalidArgument when one unit exceeds the limit.
  Status Count(const CellView& cell);
  std::int64_t Now();
  RowReader& Reader();

  const OpeningRules& opening_;
  RegionData& data_;
  WritePath& path_;
  RowLocks::Held& locks_;
  const AtomicMutation& unit_;
  std::uint64_t computed_from_ = 0;
  PendingCells pending_;  // plan_.cells, as far as reads have needed them
  std::unique_ptr<RowReader> reader_;
  std::int64_t now_ms_ = 0;    // 0: not assigned yet
  std::int64_t floor_ms_ = 0;  // timestamp of the cell that a condition compared
  MutationPlan plan_;
};

}  // namespace ratchet::regionserver
