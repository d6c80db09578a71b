// Which cells of a row a reader sees: deletes, versions, time to live, time ranges, columns (HBase's rules). Pure.
//
// Rules: a delete marker hides every put at or below its timestamp (or at it exactly), also puts that came later, until a
// major compaction removes both. A family's VERSIONS bounds what exists; a request's max_versions and time range then choose
// from that. Expired cells do not exist, except the newest MIN_VERSIONS of a column.
//
// Cells are told one by one, in key order; what is kept of a row is the state of the rules, never its cells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/cell.h"
#include "common/model/table_descriptor.h"
#include "regionserver/region/requests.h"

namespace ratchet::regionserver {

// What the rules need of a family.
struct FamilyRules {
  std::uint32_t max_versions = 1;
  std::uint32_t min_versions = 0;
  std::int64_t ttl_ms = INT64_MAX;
};
[[nodiscard]] FamilyRules RulesOf(const FamilyDescriptor& family);

// Walks a family's cells of one row in key order and tells which puts exist. The markers of the whole family come first, in the
// empty column, each before what it hides there.
class ExistingPuts {
 public:
  void Begin(const FamilyRules& rules, std::int64_t now_ms);
  void BeginColumn();
  // True: a put that exists. `ttl_ms`: the cell's own; 0: none.
  bool Exists(CellType type, std::int64_t timestamp, std::int64_t ttl_ms);
  // No further put of the column at hand exists, whatever follows.
  [[nodiscard]] bool ColumnIsOver() const { return column_over_; }
  // The newest marker of the whole family was seen: the older ones change nothing.
  [[nodiscard]] bool FamilyIsDeleted() const { return family_deleted_ != INT64_MIN; }

 private:
  bool PutExists(std::int64_t timestamp, std::int64_t ttl_ms);
  [[nodiscard]] bool IsDeleted(std::int64_t timestamp) const;
  [[nodiscard]] bool Expired(std::int64_t timestamp, std::int64_t ttl_ms) const;

  FamilyRules rules_;
  std::int64_t now_ms_ = 0;
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
};
// One for each family that is wanted, in key order.
using RowWish = std::vector<FamilyWish>;
[[nodiscard]] RowWish MakeRowWish(const std::map<std::string, FamilyRules, std::less<>>& families, const ReadSpec& spec);

// Chooses from one family of one row. A filter would be asked in Look, after columns and time range and before versions are counted.
class FamilySelector {
 public:
  // Where the next cell is that may matter.
  enum class Next : std::uint8_t { kCell, kColumn, kWantedColumn, kFamily };
  struct Verdict {
    bool take = false;
    Next next = Next::kCell;
  };

  void Begin(const FamilyWish& wish, std::int64_t now_ms);
  void BeginColumn(std::string_view qualifier);
  [[nodiscard]] Verdict Look(CellType type, std::int64_t timestamp, std::int64_t ttl_ms);
  // The first wanted qualifier behind the column at hand; null: there is none. Only after kWantedColumn.
  [[nodiscard]] const std::string* NextWanted() const;

 private:
  [[nodiscard]] Next BehindColumn() const;

  const FamilyWish* wish_ = nullptr;
  ExistingPuts puts_;
  bool empty_column_ = false;
  bool wanted_ = false;
  std::size_t next_wanted_ = 0;  // in wish_->qualifiers, behind the column at hand
  std::uint32_t versions_ = 0;
  std::uint64_t selected_ = 0;
};

}  // namespace ratchet::regionserver
