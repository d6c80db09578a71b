// The author's object of a procedure: makes one from a record, calls it so that an exception becomes an error, and
// checks whether this program can continue with it.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "procedure/api/procedure.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/core/record.h"

namespace ratchet::procedure {

// Calls functions that authors of procedures wrote: steps, undos, checks. Returns what `call` returns (a Status or a
// Result). Turns an exception that `call` throws into an error.
template <class Call>
[[nodiscard]] auto CallAuthor(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& e) {
    return Error(Code::kInternal, std::string("uncaught exception: ") + e.what());
  } catch (...) {
    return Error(Code::kInternal, "uncaught exception that is not a std::exception");
  }
}

// Sets the pid, the parent and the root of a procedure object. The only friend of Procedure.
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

// Checks whether this program can continue a procedure from its record. Used by a load, which parks the others, and by
// the check before an upgrade. Pure.
struct UsableRecord {
  ProcedurePtr procedure;  // null: neither type nor data can be used
  std::string wrong;       // why the procedure cannot continue; empty: it can
};
// Checks whether the procedure can continue: the type, the version and the content of its data, and the states that the
// record names. Also calls the const functions that are later called without a guard. An exception that the author's
// code throws because of impossible data becomes UsableRecord::wrong.
[[nodiscard]] UsableRecord UseRecord(const ProcedureRegistry& registry, const Identity& id, const Durable& durable);

}  // namespace ratchet::procedure
