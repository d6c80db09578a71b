// Converts the state of the executor and the logic to messages of RatchetService. Pure functions of the values.
#pragma once

#include <string>

#include "common/model/proto/history.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "master/rpc/master_services.h"
#include "procedure/api/views.h"

namespace ratchet::master {

// Like host::FillProcedure, but a refused opening also counts as an attempt.
void FillProcedure(const procedure::ProcedureInfo& info, ratchet::pb::ProcedureInfo& out);
// A procedure that has ended, with its steps (`info.history`), as the history keeps it.
[[nodiscard]] ratchet::pb::EndedProcedure MakeEnded(const procedure::ProcedureInfo& info, Epoch epoch,
                                                    const std::string& master);
// Builds the steps of the activation so far.
[[nodiscard]] ratchet::pb::Failover MakeFailover(const MasterGate& gate, Epoch epoch);
[[nodiscard]] ratchet::pb::GetStatusResponse MakeStatus(const ServiceEnv& env);

}  // namespace ratchet::master
