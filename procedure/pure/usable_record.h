// Whether this program can go on with a procedure as its record has it. What a load parks, and what a check before an
// upgrade tells. Pure.
#pragma once

#include <string>

#include "procedure/author/procedure_registry.h"
#include "procedure/record/durable_record.h"

namespace ratchet::procedure {

struct UsableRecord {
  ProcedurePtr procedure;  // null: neither type nor data can be used
  std::string wrong;       // why the procedure cannot go on; empty: it can
};
// Asks the type, the version and the content of the data, what is asked of every procedure without a guard, and the
// states that the record names. An exception that the author's code throws, because its data cannot be, is an answer.
[[nodiscard]] UsableRecord UseRecord(const ProcedureRegistry& registry, const Identity& id, const Durable& durable);

}  // namespace ratchet::procedure
