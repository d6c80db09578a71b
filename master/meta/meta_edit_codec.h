// Rows of hbase:meta as the master writes and reads them: HBase's columns, and Ratchet's own info:transition, table:dir
// and table:transition (rule S28).
//
// Each edit becomes one mutation of one row under a condition on the row's transition number. HBase's conditions know
// no "absent or at most": two of them, tried one after the other, say it.
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
  kAbsent,  // the row has no transition number: it is not there
  kAtMost,  // it has one, and it is at most the edit's
};

// The condition to try first. Creations usually find nothing, all others usually find the row.
[[nodiscard]] EditCondition FirstCondition(const MetaEdit& edit);
// Creations have a second one to try when the first does not hold.
[[nodiscard]] bool HasSecondCondition(const MetaEdit& edit);
[[nodiscard]] bool IsDelete(const MetaEdit& edit);

[[nodiscard]] std::string RowOf(const MetaEdit& edit);
[[nodiscard]] std::uint64_t TransitionOf(const MetaEdit& edit);
[[nodiscard]] hbase::pb::MutateRequest EncodeEdit(const MetaEdit& edit, EditCondition condition, Epoch epoch);
// Reads the row's transition number.
[[nodiscard]] hbase::pb::GetRequest EncodeTransitionGet(const MetaEdit& edit);

// S41: all of it as the request of MultiRowMutationService.MutateRows.
[[nodiscard]] hbase::pb::CoprocessorServiceRequest EncodeCommit(const MetaCommit& commit, Epoch epoch);
// Whether MutateRows has changed the rows. kCorruption: the answer cannot be read.
[[nodiscard]] Result<bool> CommitProcessed(const hbase::pb::CoprocessorServiceResponse& response);
// Whether the row that has this transition number (nullopt: none) is as `edit` leaves it.
[[nodiscard]] bool ShowsEdit(const MetaEdit& edit, std::optional<std::string_view> stored);

// Adds one row, as a scan returned it, to `contents`. kCorruption names the row.
Status TakeMetaCells(const std::vector<Cell>& cells, MetaContents* contents);

}  // namespace ratchet::master
