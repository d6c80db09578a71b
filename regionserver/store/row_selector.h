// Which cells of a row a reader sees: deletes, versions, time to live, time ranges, columns (HBase's rules). Pure.
//
// Rules: a delete marker hides every put at or below its timestamp (or at it exactly), also puts that came later, until a
// major compaction removes both. A family's VERSIONS bounds what exists; a request's max_versions and time range then choose
// from that. Expired cells do not exist, except the newest MIN_VERSIONS of a column.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/table_descriptor.h"
#include "regionserver/region/requests.h"
#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {

// What the rules need of a family.
struct FamilyRules {
  std::uint32_t max_versions = 1;
  std::uint32_t min_versions = 0;
  std::int64_t ttl_ms = INT64_MAX;
};
[[nodiscard]] FamilyRules RulesOf(const FamilyDescriptor& family);

// Walks a family's cells of one row in key order and tells which puts exist.
class ExistingPuts {
 public:
  ExistingPuts(const FamilyRules& rules, std::int64_t now_ms);
  // Markers of the whole family, which may be told before the walk.
  void NoteFamilyMarker(const StoredCell& stored);
  // True: a put that exists.
  bool Exists(const StoredCell& stored);
  // No further put of the column at hand exists, whatever follows.
  [[nodiscard]] bool ColumnIsFull() const { return versions_ >= rules_.max_versions; }

 private:
  void BeginColumn(const std::string& qualifier);
  [[nodiscard]] bool IsDeleted(std::int64_t timestamp) const;
  [[nodiscard]] bool Expired(std::int64_t timestamp, std::int64_t ttl_ms) const;

  const FamilyRules rules_;
  const std::int64_t now_ms_;
  std::int64_t family_deleted_ = INT64_MIN;
  std::set<std::int64_t> family_versions_;
  // Of the column at hand.
  bool in_column_ = false;
  std::string qualifier_;
  std::int64_t column_deleted_ = INT64_MIN;
  std::optional<std::int64_t> version_deleted_;
  std::optional<std::int64_t> last_put_;
  std::uint32_t versions_ = 0;
};

// `family`: all stored cells of one family of one row that the reader may see (its read point), in key order; those behind
// a full column may be left out. Appends what it selects to `out`, with store_limit and store_offset applied.
void SelectFamily(const std::vector<StoredCell>& family, const FamilyRules& rules, const ReadSpec& spec,
                  std::int64_t now_ms, std::vector<Cell>& out);

// For compactions. Major: the cells that any reader could still see; markers go. Minor: everything but exact duplicates.
[[nodiscard]] std::vector<StoredCell> CompactFamily(std::vector<StoredCell> family, const FamilyRules& rules, bool major,
                                                    std::int64_t now_ms);

}  // namespace ratchet::regionserver
