// Selects the cells of a row that a reader sees: deletes, versions, time to live, time ranges, columns (HBase's rules).
// Pure.
//
// Rules: a delete marker hides every put at or below its timestamp (or at it exactly), even puts that came later, until
// a major compaction removes both. A family's VERSIONS limits the existing versions; a request's max_versions and time
// range then choose from those. Expired cells do not exist, except the newest MIN_VERSIONS of a column.
//
// KEEP_DELETED_CELLS: a deleted cell continues to exist, and counts as a version, without limit (TRUE) or until it
// expires (TTL). A request sees it if the marker is outside of the request's time range; a major compaction keeps such
// markers as long as they may hide a cell. A raw request returns all stored cells, including markers; it leaves out
// only exact repetitions, cells whose own time to live has expired, and puts beyond its own max_versions. A family's
// VERSIONS and TTL do not apply to it.
//
// Cells are passed one by one, in key order; only the state of the rules is kept for a row, never its cells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/cell.h"
#include "common/model/table_descriptor.h"
#include "regionserver/store/read_spec.h"

namespace ratchet::regionserver {

// KEEP_DELETED_CELLS: FALSE, TRUE, TTL.
enum class KeepDeleted : std::uint8_t { kNo, kForever, kUntilExpired };

// The settings of a family that the rules need.
struct FamilyRules {
  std::uint32_t max_versions = 1;
  std::uint32_t min_versions = 0;
  std::int64_t ttl_ms = INT64_MAX;
  KeepDeleted keep_deleted = KeepDeleted::kNo;
};
[[nodiscard]] FamilyRules RulesOf(const FamilyDescriptor& family);

// Walks a family's cells of one row in key order and decides which puts exist. The markers of the whole family come
// first, in the empty column, each before the cells that it hides there.
class ExistingPuts {
 public:
  // `markers`: if deleted cells are kept, only markers in this range hide cells; a compaction passes an empty range.
  void Begin(const FamilyRules& rules, std::int64_t now_ms, const TimeRange& markers);
  void BeginColumn();
  // Returns true for a put that exists and is not hidden. `ttl_ms` is the cell's own, which may be 0 or less.
  bool Exists(CellType type, std::int64_t timestamp, std::optional<std::int64_t> ttl_ms);
  // Call for a marker after Exists: returns true when a major compaction must keep the marker.
  [[nodiscard]] bool KeepsMarker(CellType type, std::int64_t timestamp) const;
  // True when the cell's own time to live has expired.
  [[nodiscard]] bool Expired(std::int64_t timestamp, std::int64_t ttl_ms) const;
  // True when no later put of the current column can exist.
  [[nodiscard]] bool ColumnIsOver() const { return column_over_; }
  // True when the newest marker of the whole family was seen: older ones change nothing.
  [[nodiscard]] bool FamilyIsDeleted() const { return family_deleted_ != INT64_MIN; }

 private:
  bool PutExists(std::int64_t timestamp, std::optional<std::int64_t> ttl_ms);
  [[nodiscard]] bool IsDeleted(std::int64_t timestamp) const;
  // True when cells that a marker of this time hides continue to exist.
  [[nodiscard]] bool KeepsDeleted(std::int64_t timestamp) const;

  FamilyRules rules_;
  std::int64_t now_ms_ = 0;
  TimeRange markers_;
  std::int64_t family_deleted_ = INT64_MIN;
  std::set<std::int64_t> family_versions_;  // markers above family_deleted_
  // State of the current column.
  bool column_over_ = false;
  std::optional<std::int64_t> version_deleted_;
  std::optional<std::int64_t> last_put_;
  std::uint32_t versions_ = 0;
};

// A request's selection in a family, the same for each row. Made once for many rows.
struct FamilyQuery {
  std::string family;
  FamilyRules rules;
  std::vector<std::string> qualifiers;  // sorted, each once; empty: all
  TimeRange range;
  std::uint32_t max_versions = 1;
  std::optional<std::uint32_t> limit;
  std::uint32_t offset = 0;
  bool raw = false;  // then `qualifiers` is empty
};
// One entry for each wanted family, in key order.
using RowQuery = std::vector<FamilyQuery>;
[[nodiscard]] RowQuery MakeRowQuery(const std::map<std::string, FamilyRules, std::less<>>& families,
                                    const ReadSpec& spec);

// Chooses from one family of one row. A filter is called after columns, time range and existence were checked, and
// before the request's versions are counted, as in HBase. Its jumps within a row never pass a marker that hides later
// cells: jumps over versions go cell by cell, and so do all jumps in the empty column, which has the markers of the
// whole family.
class FamilySelector {
 public:
  // Where the next relevant cell may be.
  enum class Next : std::uint8_t { kCell, kColumn, kWantedColumn, kFamily, kHint };
  struct Verdict {
    bool take = false;
    Next next = Next::kCell;
  };

  // `filter` is null, or outlives the family.
  void Begin(const FamilyQuery& query, std::int64_t now_ms, ReadFilter* filter);
  void BeginColumn(std::string_view qualifier);
  [[nodiscard]] Verdict Look(const CellView& cell, std::optional<std::int64_t> ttl_ms);
  // After kHint: the filter's next position, after the current column.
  [[nodiscard]] const filters::Place& hint() const { return hint_; }
  // Returns the first wanted qualifier after the current column; null: there is none. Only after kWantedColumn.
  [[nodiscard]] const std::string* NextWanted() const;

 private:
  [[nodiscard]] Next BehindColumn() const;
  [[nodiscard]] Verdict LookRaw(const CellView& cell, std::optional<std::int64_t> ttl_ms);
  [[nodiscard]] Verdict Take(Next next);
  // Asks the filter about a cell that all other rules accept.
  [[nodiscard]] Verdict Ask(const CellView& cell, Next next);
  [[nodiscard]] Next Hinted(const CellView& cell, Next next);
  [[nodiscard]] Next PassColumn();

  const FamilyQuery* query_ = nullptr;
  ExistingPuts puts_;
  bool empty_column_ = false;
  bool wanted_ = false;
  std::size_t next_wanted_ = 0;  // index in query_->qualifiers, after the current column
  std::uint32_t versions_ = 0;
  std::optional<std::pair<std::int64_t, CellType>> last_raw_;  // the last cell returned of the current column
  std::uint64_t selected_ = 0;
  ReadFilter* filter_ = nullptr;
  bool passed_ = false;  // the filter wants no more of the current column
  filters::Place hint_;
};

}  // namespace ratchet::regionserver
