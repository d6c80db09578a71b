// The step tables of all types of a registry, as JSON.
#pragma once

#include <string>

#include "procedure/api/procedure_registry.h"

namespace ratchet::host {

// [{"type": "...", "steps": [{"number": 1, "name": "...", "undo": "...", "locks": "...", "given": "..."}]}]
[[nodiscard]] std::string StepTablesJson(const procedure::ProcedureRegistry& registry);

}  // namespace ratchet::host
