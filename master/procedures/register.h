// Registers the master's procedure types.
#pragma once

namespace ratchet::procedure {
class ProcedureRegistry;
}

namespace ratchet::master {

void RegisterMasterProcedures(procedure::ProcedureRegistry& registry);

}  // namespace ratchet::master
