// What a region is asked: reads, mutations, conditions and scans, free of wire formats. Plain data.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/cell.h"
#include "regionserver/filter/comparator.h"
#include "regionserver/store/read_spec.h"

namespace ratchet::regionserver {

struct GetSpec : ReadSpec {
  std::string row;
  std::uint64_t most_cells = 0;     // 0: all; 1 tells whether there are any
  bool closest_row_before = false;  // meta only: the greatest row at or before `row` that has cells
};

struct ScanSpec : ReadSpec {
  // Forward: start_row <= row < stop_row; reversed: start_row >= row > stop_row. Empty: from/to the region's end.
  std::string start_row;
  std::string stop_row;
  bool include_start_row = true;
  bool include_stop_row = false;
  bool reversed = false;
  std::uint32_t batch_cells = 0;  // most cells in one result; 0: no limit
  // As it was at this sequence (of an earlier scan's read point), as far as that still exists; 0: as it is now.
  std::uint64_t read_point = 0;
};

// Where one reply has to end. Zero: no limit.
struct ScanLimits {
  std::uint32_t max_rows = 0;    // results in this reply
  std::uint64_t max_bytes = 0;   // of cells; at least one result is always returned
  bool allow_partial = false;    // a row may be cut at max_bytes
  bool allow_heartbeat = false;  // the reply may end early at `deadline`, even without results
  TimePoint deadline = TimePoint::max();
};

// Where a read gives its cells, one by one; the views are good during the call.
class CellSink {
 public:
  virtual ~CellSink() = default;
  virtual void Add(const CellView& cell) = 0;
};
class ScanSink : public CellSink {
 public:
  // The cells since the last call are one result. `partial`: the row goes on in the next one.
  virtual void EndResult(bool partial) = 0;
};
// What a cell counts for in the limits of reads: at least what it takes in an answer.
[[nodiscard]] inline std::uint64_t HeldSize(const CellView& cell) {
  constexpr std::uint64_t kOverhead = 32;
  return cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() + cell.tags.size() +
         kOverhead;
}

// How far one call of a scan has come.
struct ScanProgress {
  std::uint32_t results = 0;
  std::uint32_t finished_rows = 0;  // results that ended their row
  bool more_in_region = true;
  bool heartbeat = false;  // ended by the deadline
  std::string cursor_row;  // the row that the scan has reached
  std::uint64_t rows_scanned = 0;
  std::uint64_t rows_filtered = 0;  // that gave nothing
  bool filter_done = false;         // the filter takes nothing more of this region
  TimePoint::duration file_wait{};  // for bytes of store files
};

struct ScanResultRow {
  std::vector<Cell> cells;
  bool partial = false;  // the row goes on in the next result
};
// The same with its results, as copies.
struct ScanChunk : ScanProgress {
  std::vector<ScanResultRow> rows;
};

// A client's name for one mutation (S29). value 0: none.
struct Nonce {
  std::uint64_t group = 0;
  std::uint64_t value = 0;
  // When the client began, wall clock ms, if it says so: lets a retry that is older than this region's memory be
  // refused.
  std::optional<std::int64_t> begun_ms;
  [[nodiscard]] bool valid() const { return value != 0; }
};

enum class MutationKind : std::uint8_t { kPut, kDelete, kAppend, kIncrement };

struct Mutation {
  MutationKind kind = MutationKind::kPut;
  std::string row;
  // Puts, appends (values to add at the end) and increments (8-byte big-endian amounts): typed kPut. Deletes: their
  // kinds. A delete without cells removes the whole row. kLatestTimestamp: the server's time; in a kDelete cell: the
  // newest existing version.
  std::vector<Cell> cells;
  std::int64_t timestamp = kLatestTimestamp;  // of a delete without cells
  TimeRange time_range;                       // increments: which versions count as the old value
  // Of the cells of this mutation, in the place of what their tags say.
  std::optional<std::int64_t> ttl_ms;
  std::vector<std::string> cluster_ids;  // clusters that it comes from by replication; empty: from a client
  bool return_result = true;             // appends and increments: the new cells
  Nonce nonce;
};

using filters::CompareOp;

// True when the newest cell of the column relates so: `expected op stored` (docs/wire-compatibility.md). With a
// filter: when the row has any cell through it, of the column if one is named.
struct Condition {
  std::string row;  // of AtomicMutation::condition: the row of the mutations
  std::string family;
  std::string qualifier;
  CompareOp op = CompareOp::kEqual;
  std::shared_ptr<const filters::Comparator> comparator;  // one that expects nothing: "absent or empty"
  TimeRange time_range;
  std::shared_ptr<ReadFilter> filter;  // then without comparator; without family: the whole row
};

// One unit that is applied wholly or not at all: one mutation, or several of one row, under an optional condition; or
// several of any rows of the region, under conditions on any rows of it (S41). All rows that it names are
// locked together.
struct AtomicMutation {
  std::vector<Mutation> mutations;
  std::optional<Condition> condition;
  bool several_rows = false;
  std::vector<Condition> conditions;  // with several_rows: all of them must hold
  // Called under the row locks with the first mutation's row as it is, right before the unit is handed to the log (S28:
  // meta's epoch). An error refuses it.
  std::function<Status(const std::vector<Cell>& row)> guard;
};
// Every row that the unit changes or looks at.
[[nodiscard]] std::set<std::string> RowsOf(const AtomicMutation& unit);

// What the results of one call may hold together, over all its regions. Thread-safe.
struct ResultAllowance {
  explicit ResultAllowance(std::uint64_t the_limit) : limit(the_limit) {}
  [[nodiscard]] bool UsedUp() const { return used.load(std::memory_order_relaxed) > limit; }
  void Use(std::uint64_t bytes) { used.fetch_add(bytes, std::memory_order_relaxed); }
  const std::uint64_t limit;  // bytes of encoded cells; the result that crosses it is still given
  std::atomic<std::uint64_t> used{0};
};

struct MutationResult {
  bool processed = true;                   // false: the condition did not hold
  std::vector<std::vector<Cell>> results;  // parallel to mutations; filled for appends and increments
};

}  // namespace ratchet::regionserver
