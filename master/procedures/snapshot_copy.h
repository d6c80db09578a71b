// What a clone and a restoring of a snapshot share: the regions of a table's new directory are made out of the
// snapshot's parts, each by one order to a live server. The data are those of a new table (new_table.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "master/procedures/table_steps.h"

namespace ratchet::master {

[[nodiscard]] pb::TableData NewCopyData(const TableName& table, const std::string& snapshot);
[[nodiscard]] std::optional<procedure::PartsLeft> CopiesLeft(const pb::TableData& data);
[[nodiscard]] std::string DescribeCopy(const pb::TableData& data);
// Reads the snapshot, and sets schema, split keys and parts.
[[nodiscard]] Status TakeSnapshot(MasterEnv& env, pb::TableData& data);
// An order for each region that is not made yet. With a value: what the step has to return instead of spawning them.
[[nodiscard]] std::optional<StepOutcome> OrderCopies(StepContext& ctx, const pb::TableData& data,
                                                     std::vector<ProcedurePtr>& orders);
// Takes over how each order has ended. Nothing: look what is left; otherwise what the step has to return.
[[nodiscard]] std::optional<StepOutcome> TakeCopies(StepContext& ctx, pb::TableData& data);

}  // namespace ratchet::master
