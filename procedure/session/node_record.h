// Encodes a procedure for the store, and names its steps for fault points.
#pragma once

#include <string>

#include "procedure/session/proc_node.h"
#include "procedure/store/procedure_store.h"

namespace ratchet::procedure {

[[nodiscard]] ProcedureUpsert UpsertOf(const ProcNode& node, const Durable& durable);

// "CreateTable:ADD_TO_META"
[[nodiscard]] std::string FaultDetail(const ProcNode& node, StepNo step, bool undo);

}  // namespace ratchet::procedure
