// Requests to a region: reads, mutations, conditions and scans, independent of wire formats. Plain data.
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
  std::uint64_t most_cells = 0;     // 0: all; 1 is enough to test existence
  bool closest_row_before = false;  // meta only: the greatest row at or before `row` that has cells
  // Never waits for the disk, and ends soon: kResourceExhausted if the row needs a block that is not in the block
  // cache, or more than a few cells have to be read. For a read without a filter and without closest_row_before.
  bool cached_only = false;
};

struct ScanSpec : ReadSpec {
  // Forward: start_row <= row < stop_row; reversed: start_row >= row > stop_row. Empty: from/to the region's end.
  std::string start_row;
  std::string stop_row;
  bool include_start_row = true;
  bool include_stop_row = false;
  bool reversed = false;
  std::uint32_t batch_cells = 0;  // most cells in one result; 0: no limit
  // Reads the state at this sequence (an earlier scan's read point), as far as it still exists; 0: the current state.
  std::uint64_t read_point = 0;
};

// Limits of one reply. Zero: no limit.
struct ScanLimits {
  std::uint32_t max_results = 0;  // results in this reply; with a batch, a row can be several results
  std::uint32_t max_rows = 0;     // rows that end in this reply, in any number of results
  std::uint64_t max_bytes = 0;    // size of the cells; at least one result is always returned
  bool allow_partial = false;     // a row may be cut at max_bytes
  bool allow_heartbeat = false;   // the reply may end early at `deadline`, even without results
  TimePoint deadline = TimePoint::max();
  TimePoint abandoned = TimePoint::max();  // the client's time is over from then on
};

// Receives the cells of a read, one by one; the views are valid during the call.
class CellSink {
 public:
  virtual ~CellSink() = default;
  virtual void Add(const CellView& cell) = 0;
};
class ScanSink : public CellSink {
 public:
  // Ends one result: the cells since the last call. `partial`: the row continues in the next result.
  virtual void EndResult(bool partial) = 0;
};
// Size of a cell in the limits of reads: at least its size in an answer.
[[nodiscard]] inline std::uint64_t HeldSize(const CellView& cell) {
  constexpr std::uint64_t kOverhead = 32;
  return cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() + cell.tags.size() +
         kOverhead;
}

// Progress of one call of a scan.
struct ScanProgress {
  std::uint32_t results = 0;
  std::uint32_t finished_rows = 0;  // rows with results, from this or earlier calls, that ended in this call
  bool more_in_region = true;
  bool heartbeat = false;  // ended by the deadline
  std::string cursor_row;  // the row that the scan has reached
  std::uint64_t rows_scanned = 0;
  std::uint64_t rows_filtered = 0;  // rows without results
  bool filter_done = false;         // the filter takes no more rows of this region
  TimePoint::duration file_wait{};  // time spent waiting for bytes of store files
};

struct ScanResultRow {
  std::vector<Cell> cells;
  bool partial = false;  // the row continues in the next result
};
// Progress with copies of the results.
struct ScanChunk : ScanProgress {
  std::vector<ScanResultRow> rows;
};

// A client's name for one mutation (S29: durable nonces). value 0: none.
struct Nonce {
  std::uint64_t group = 0;
  std::uint64_t value = 0;
  // When the client began, wall clock ms, if known: allows refusing a retry that is older than the region's nonce
  // memory.
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
  std::int64_t timestamp = kLatestTimestamp;  // for a delete without cells
  TimeRange time_range;                       // increments: which versions count as the old value
  // Time to live of the mutation's cells; replaces that of their tags.
  std::optional<std::int64_t> ttl_ms;
  std::vector<std::string> cluster_ids;  // clusters that the mutation passed by replication; empty: from a client
  bool return_result = true;             // for appends and increments: return the new cells
  Nonce nonce;
};

using filters::CompareOp;

// True when the newest cell of the column satisfies `expected op stored` (docs/wire-compatibility.md). With a filter:
// true when any cell of the row passes it (of the column, if one is named).
struct Condition {
  std::string row;  // in AtomicMutation::condition: the row of the mutations
  std::string family;
  std::string qualifier;
  CompareOp op = CompareOp::kEqual;
  std::shared_ptr<const filters::Comparator> comparator;  // one that expects nothing: "absent or empty"
  TimeRange time_range;
  std::shared_ptr<ReadFilter> filter;  // then `comparator` is null; without family: the whole row
};

// One unit that is applied wholly or not at all: one mutation, or several of one row, under an optional condition; or
// several of any rows of the region, under conditions on any rows of it (S41: atomic conditional commit). All rows that
// it names are locked together.
struct AtomicMutation {
  std::vector<Mutation> mutations;
  std::optional<Condition> condition;
  bool several_rows = false;
  std::vector<Condition> conditions;  // with several_rows: all of them must hold
  // Called under the row locks with the current first row, right before the unit is passed to the log (S28: conditional
  // meta writes). An error refuses the unit.
  std::function<Status(const std::vector<Cell>& row)> guard;
};
// Returns every row that the unit changes or reads.
[[nodiscard]] std::set<std::string> RowsOf(const AtomicMutation& unit);

// Limit of the results of one call, over all its regions. Thread-safe.
struct ResultAllowance {
  explicit ResultAllowance(std::uint64_t the_limit) : limit(the_limit) {}
  [[nodiscard]] bool UsedUp() const { return used.load(std::memory_order_relaxed) > limit; }
  void Use(std::uint64_t bytes) { used.fetch_add(bytes, std::memory_order_relaxed); }
  const std::uint64_t limit;  // bytes of encoded cells; the result that exceeds it is still returned
  std::atomic<std::uint64_t> used{0};
};

struct MutationResult {
  bool processed = true;                   // false: the condition did not hold
  std::vector<std::vector<Cell>> results;  // parallel to mutations; filled for appends and increments
};

}  // namespace ratchet::regionserver
