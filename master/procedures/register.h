// The master's procedure types, from procedures.def.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "master/procedures/core/claims.h"

namespace ratchet::procedure {
class ProcedureRegistry;
}

namespace ratchet::master {

void RegisterMasterProcedures(procedure::ProcedureRegistry& registry);

struct ProcedureType {
  std::string_view name;
  ClaimKinds claims;
  Claims (*uses)(const std::string& data);  // the claims of a procedure with this durable data
};
// In the order of the list.
[[nodiscard]] std::span<const ProcedureType> ProcedureTypes();

}  // namespace ratchet::master
