// Checks whether this program can continue a procedure from its record. Used by a load, which parks the others, and by
// the check before an upgrade. Pure.
#pragma once

#include <string>

#include "procedure/api/procedure_registry.h"
#include "procedure/core/durable_record.h"

namespace ratchet::procedure {

struct UsableRecord {
  ProcedurePtr procedure;  // null: neither type nor data can be used
  std::string wrong;       // why the procedure cannot continue; empty: it can
};
// Checks whether the procedure can continue: the type, the version and the content of its data, and the states that the
// record names. Also calls the const functions that are later called without a guard. An exception that the author's
// code throws because of impossible data becomes UsableRecord::wrong.
[[nodiscard]] UsableRecord UseRecord(const ProcedureRegistry& registry, const Identity& id, const Durable& durable);

}  // namespace ratchet::procedure
