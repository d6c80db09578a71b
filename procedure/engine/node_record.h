// Encodes a procedure for the store, and names its steps for fault points.
#pragma once

#include <string>

#include "procedure/api/store.h"
#include "procedure/engine/proc_node.h"

namespace ratchet::procedure {

[[nodiscard]] ProcedureUpsert UpsertOf(const ProcNode& node, const Durable& durable);

// "CreateTable:ADD_TO_META"
[[nodiscard]] std::string FaultDetail(const ProcNode& node, StepNo step, bool undo);

}  // namespace ratchet::procedure
