// What the executor and the logic show, as messages of RatchetService. Pure functions of the values.
#pragma once

#include <string>

#include "common/model/proto/ratchet.pb.h"
#include "master/service/master_services.h"
#include "procedure/record/inspect.h"

namespace ratchet::master {

void FillProcedure(const procedure::ProcedureInfo& info, ratchet::pb::ProcedureInfo& out);
void FillHistory(const procedure::StepHistoryEntry& entry, ratchet::pb::ProcedureStepRecord& out);
void FillLock(const procedure::LockInfo& lock, ratchet::pb::LockInfo& out);
[[nodiscard]] ratchet::pb::GetStatusResponse MakeStatus(const ServiceEnv& env);

}  // namespace ratchet::master
