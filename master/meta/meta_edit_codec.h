// Encodes and decodes the rows of hbase:meta: HBase's columns, and Ratchet's own info:transition, table:dir and
// table:transition (rule S28: conditional meta writes).
//
// Each edit becomes one mutation of one row under a condition on the row's transition number. HBase has no condition
// "absent or at most", so two conditions are tried one after the other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/cell.h"
#include "common/model/proto/client.pb.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

enum class EditCondition : std::uint8_t {
  kAbsent,  // the row has no transition number, so it does not exist
  kAtMost,  // the row has a number, which is at most the edit's
};

// Returns the condition to try first. The row is usually absent for creations and present for other edits.
[[nodiscard]] EditCondition FirstCondition(const MetaEdit& edit);
// Returns true for creations: they try a second condition if the first does not hold.
[[nodiscard]] bool HasSecondCondition(const MetaEdit& edit);
[[nodiscard]] bool IsDelete(const MetaEdit& edit);

[[nodiscard]] std::string RowOf(const MetaEdit& edit);
[[nodiscard]] std::uint64_t TransitionOf(const MetaEdit& edit);
[[nodiscard]] hbase::pb::MutateRequest EncodeEdit(const MetaEdit& edit, EditCondition condition, Epoch epoch);
// Reads the row's transition number.
[[nodiscard]] hbase::pb::GetRequest EncodeTransitionGet(const MetaEdit& edit);

// S41 (atomic conditional commit): encodes the whole commit as a request of MultiRowMutationService.MutateRows.
[[nodiscard]] hbase::pb::CoprocessorServiceRequest EncodeCommit(const MetaCommit& commit, Epoch epoch);
// Returns true if MutateRows has changed the rows. kCorruption: invalid answer.
[[nodiscard]] Result<bool> CommitProcessed(const hbase::pb::CoprocessorServiceResponse& response);
// Returns true if a row with this transition number (nullopt: no row) is in the state that `edit` leaves.
[[nodiscard]] bool ShowsEdit(const MetaEdit& edit, std::optional<std::string_view> stored);

// Adds one row, as a scan returned it, to `contents`. kCorruption names the row.
Status AddMetaRow(const std::vector<Cell>& cells, MetaContents* contents);

}  // namespace ratchet::master
