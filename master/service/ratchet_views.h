// What the executor and the logic show, as messages of RatchetService. Pure functions of the values.
#pragma once

#include <string>

#include "common/model/proto/history.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "master/service/master_services.h"
#include "procedure/record/inspect.h"

namespace ratchet::master {

// As host::FillProcedure; a refused opening counts as an attempt too.
void FillProcedure(const procedure::ProcedureInfo& info, ratchet::pb::ProcedureInfo& out);
// A procedure that has ended, with its steps (`info.history`), as the history keeps it.
[[nodiscard]] ratchet::pb::EndedProcedure MakeEnded(const procedure::ProcedureInfo& info, Epoch epoch,
                                                    const std::string& master);
// The steps of the activation so far.
[[nodiscard]] ratchet::pb::Failover MakeFailover(const MasterGate& gate, Epoch epoch);
[[nodiscard]] ratchet::pb::GetStatusResponse MakeStatus(const ServiceEnv& env);

}  // namespace ratchet::master
