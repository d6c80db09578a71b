// Makes procedure objects and sets their pid, parent and owner.
#pragma once

#include <string_view>

#include "procedure/api/procedure.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/core/durable_record.h"

namespace ratchet::procedure {

// The only friend of Procedure.
class ProcedureIdentity {
 public:
  static void Set(Procedure& procedure, const Identity& id) {
    procedure.pid_ = id.pid;
    procedure.parent_pid_ = id.parent;
    procedure.root_pid_ = id.root;
  }
};

// Null when the type is unknown, its data version is newer than the code, or the data cannot be read.
[[nodiscard]] inline ProcedurePtr MakeFromRecord(const ProcedureRegistry& registry, const Identity& id,
                                                 std::string_view data) {
  const ProcedureRegistry::Type* type = registry.Find(id.type);
  if (type == nullptr) return nullptr;
  ProcedurePtr procedure = type->make();
  if (id.data_version > procedure->data_version() || !procedure->ParseData(data)) return nullptr;
  ProcedureIdentity::Set(*procedure, id);
  return procedure;
}

}  // namespace ratchet::procedure
