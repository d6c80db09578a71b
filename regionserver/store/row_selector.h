// Which cells of a row a reader sees: deletes, versions, time to live, time ranges, columns (HBase's rules). Pure.
//
// Rules: a delete marker hides every put at or below its timestamp (or at it exactly), also puts that came later, until
// a major compaction removes both. A family's VERSIONS bounds what exists; a request's max_versions and time range then
// choose from that. Expired cells do not exist, except the newest MIN_VERSIONS of a column.
//
// KEEP_DELETED_CELLS: what a marker hides goes on to exist, and counts as a version, for ever (TRUE) or until it
// expires (TTL). A request sees it whose time range the marker is outside of; a major compaction keeps such markers as
// long as there may be something behind them. A raw request is shown what is stored, markers too; only exact
// repetitions, cells whose own time to live is over, and puts beyond its own max_versions are left out. A family's
// VERSIONS and TTL do not count for it.
//
// Cells are told one by one, in key order; what is kept of a row is the state of the rules, never its cells.
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

// What the rules need of a family.
struct FamilyRules {
  std::uint32_t max_versions = 1;
  std::uint32_t min_versions = 0;
  std::int64_t ttl_ms = INT64_MAX;
  KeepDeleted keep_deleted = KeepDeleted::kNo;
};
[[nodiscard]] FamilyRules RulesOf(const FamilyDescriptor& family);

// Walks a family's cells of one row in key order and tells which puts exist. The markers of the whole family come
// first, in the empty column, each before what it hides there.
class ExistingPuts {
 public:
  // `markers`: where deleted cells are kept, only markers of this range hide anything; a compaction gives an empty one.
  void Begin(const FamilyRules& rules, std::int64_t now_ms, const TimeRange& markers);
  void BeginColumn();
  // True: a put that exists, and is not hidden. `ttl_ms`: the cell's own; 0: none.
  bool Exists(CellType type, std::int64_t timestamp, std::int64_t ttl_ms);
  // Of a marker, after Exists: a major compaction has to keep it.
  [[nodiscard]] bool KeepsMarker(CellType type, std::int64_t timestamp) const;
  // Its own time to live is over.
  [[nodiscard]] bool Expired(std::int64_t timestamp, std::int64_t ttl_ms) const;
  // No further put of the column at hand exists, whatever follows.
  [[nodiscard]] bool ColumnIsOver() const { return column_over_; }
  // The newest marker of the whole family was seen: the older ones change nothing.
  [[nodiscard]] bool FamilyIsDeleted() const { return family_deleted_ != INT64_MIN; }

 private:
  bool PutExists(std::int64_t timestamp, std::int64_t ttl_ms);
  [[nodiscard]] bool IsDeleted(std::int64_t timestamp) const;
  // What a marker of this time hides goes on to exist.
  [[nodiscard]] bool KeepsDeleted(std::int64_t timestamp) const;

  FamilyRules rules_;
  std::int64_t now_ms_ = 0;
  TimeRange markers_;
  std::int64_t family_deleted_ = INT64_MIN;
  std::set<std::int64_t> family_versions_;  // above family_deleted_
  // Of the column at hand.
  bool column_over_ = false;
  std::optional<std::int64_t> version_deleted_;
  std::optional<std::int64_t> last_put_;
  std::uint32_t versions_ = 0;
};

// What a request wants of a family's cells in each row. Made once for many rows.
struct FamilyWish {
  std::string family;
  FamilyRules rules;
  std::vector<std::string> qualifiers;  // sorted, each once; none: all
  TimeRange range;
  std::uint32_t max_versions = 1;
  std::optional<std::uint32_t> limit;
  std::uint32_t offset = 0;
  bool raw = false;  // then without qualifiers
};
// One for each family that is wanted, in key order.
using RowWish = std::vector<FamilyWish>;
[[nodiscard]] RowWish MakeRowWish(const std::map<std::string, FamilyRules, std::less<>>& families,
                                  const ReadSpec& spec);

// Chooses from one family of one row. A filter is asked after columns, time range and what exists, and before the
// request's versions are counted, as in HBase. Its jumps within a row never pass a marker that hides what is behind it:
// those of versions go cell by cell, and in the empty column, where markers of the whole family stand, so do all.
class FamilySelector {
 public:
  // Where the next cell is that may matter.
  enum class Next : std::uint8_t { kCell, kColumn, kWantedColumn, kFamily, kHint };
  struct Verdict {
    bool take = false;
    Next next = Next::kCell;
  };

  // `filter`: null, or outlives the family.
  void Begin(const FamilyWish& wish, std::int64_t now_ms, ReadFilter* filter);
  void BeginColumn(std::string_view qualifier);
  [[nodiscard]] Verdict Look(const CellView& cell, std::int64_t ttl_ms);
  // After kHint: where the filter wants to go on, behind the column at hand.
  [[nodiscard]] const filters::Place& hint() const { return hint_; }
  // The first wanted qualifier behind the column at hand; null: there is none. Only after kWantedColumn.
  [[nodiscard]] const std::string* NextWanted() const;

 private:
  [[nodiscard]] Next BehindColumn() const;
  [[nodiscard]] Verdict LookRaw(const CellView& cell, std::int64_t ttl_ms);
  [[nodiscard]] Verdict Take(Next next);
  // Of a cell that may be taken as far as the filter goes.
  [[nodiscard]] Verdict Ask(const CellView& cell, Next next);
  [[nodiscard]] Next Hinted(const CellView& cell, Next next);
  [[nodiscard]] Next PassColumn();

  const FamilyWish* wish_ = nullptr;
  ExistingPuts puts_;
  bool empty_column_ = false;
  bool wanted_ = false;
  std::size_t next_wanted_ = 0;  // in wish_->qualifiers, behind the column at hand
  std::uint32_t versions_ = 0;
  std::optional<std::pair<std::int64_t, CellType>> last_raw_;  // shown of the column at hand
  std::uint64_t selected_ = 0;
  ReadFilter* filter_ = nullptr;
  bool passed_ = false;  // the filter wants no more of the column at hand
  filters::Place hint_;
};

}  // namespace ratchet::regionserver
