// The rows of hbase:meta of the simulated cluster.
#include <algorithm>

#include "common/base/check.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::sim {

using master::MetaEdit;
using master::RegionRow;

Status SimMetaRows::Apply(const MetaEdit& edit) {
  if (IsOfTable(edit.kind)) {
    const auto it = tables_.find(edit.table.table);
    if (it != tables_.end() && it->second.transition > edit.table.transition)
      return Error(Code::kStale, "table row is newer");
    if (it == tables_.end() && edit.kind == MetaEdit::Kind::kUpdateTable)
      return Error(Code::kNotFound, "no row for table " + edit.table.table.ToString());
    if (edit.kind == MetaEdit::Kind::kDeleteTable)
      tables_.erase(edit.table.table);
    else
      tables_.insert_or_assign(edit.table.table, edit.table);
    return Ok();
  }
  const std::string encoded = edit.region.region.encoded_name();
  const auto it = regions_.find(encoded);
  if (it != regions_.end() && it->second.transition > edit.region.transition)
    return Error(Code::kStale, "region row is newer");
  if (edit.kind == MetaEdit::Kind::kDeleteRegion) {
    regions_.erase(encoded);
    return Ok();
  }
  if (edit.kind == MetaEdit::Kind::kForgetMerged) {
    if (it != regions_.end()) it->second.merged_from.clear();
    return Ok();
  }
  if (it == regions_.end() && edit.kind == MetaEdit::Kind::kUpdateRegion)
    return Error(Code::kNotFound, "no row for " + encoded);
  RegionRow row = edit.region;
  if (row.state != RegionState::kOpen && it != regions_.end()) {
    row.location = it->second.location;
    row.open_sequence = it->second.open_sequence;
    row.schema_number = it->second.schema_number;
  }
  if (it != regions_.end()) {  // columns that the edit does not have stay
    if (row.build_number == 0) row.build_number = it->second.build_number;
    if (row.served == 0) row.served = it->second.served;
    if (row.flushed == 0) row.flushed = it->second.flushed;
    if (row.daughters.empty()) row.daughters = it->second.daughters;
    if (row.merged_from.empty()) row.merged_from = it->second.merged_from;
  }
  regions_.insert_or_assign(encoded, row);
  return Ok();
}

std::optional<std::uint64_t> SimMetaRows::NumberOf(const MetaEdit& row) const {
  if (IsOfTable(row.kind)) {
    const auto it = tables_.find(row.table.table);
    return it == tables_.end() ? std::nullopt : std::optional(it->second.transition);
  }
  const auto it = regions_.find(row.region.region.encoded_name());
  return it == regions_.end() ? std::nullopt : std::optional(it->second.transition);
}

master::CommitOutcome SimMetaRows::Apply(const master::MetaCommit& commit) {
  using master::CommitOutcome;
  const auto number = [](const MetaEdit& row) {
    return IsOfTable(row.kind) ? row.table.transition : row.region.transition;
  };
  const bool as_expected = std::all_of(commit.expected.begin(), commit.expected.end(), [&](const auto& expected) {
    return NumberOf(expected.row) == (expected.absent ? std::nullopt : std::optional(number(expected.row)));
  });
  if (as_expected) {
    for (const MetaEdit& edit : commit.edits)
      RATCHET_CHECK(Apply(edit).ok(), "a commit lowers the transition number of a row");
    return CommitOutcome::kApplied;
  }
  const bool shown = std::all_of(commit.edits.begin(), commit.edits.end(), [&](const MetaEdit& edit) {
    const bool gone = edit.kind == MetaEdit::Kind::kDeleteRegion || edit.kind == MetaEdit::Kind::kDeleteTable;
    return NumberOf(edit) == (gone ? std::nullopt : std::optional(number(edit)));
  });
  return shown ? CommitOutcome::kApplied : CommitOutcome::kRefused;
}

master::MetaContents SimMetaRows::Contents() const {
  master::MetaContents contents;
  for (const auto& [encoded, row] : regions_) contents.regions.push_back(row);
  for (const auto& [name, row] : tables_) contents.tables.push_back(row);
  return contents;
}

}  // namespace ratchet::sim
