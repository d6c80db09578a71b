// Converts the executor's views into messages of RatchetService. Pure functions.
#pragma once

#include "common/model/proto/ratchet.pb.h"
#include "procedure/api/views.h"

namespace ratchet::host {

void FillProcedure(const procedure::ProcedureInfo& info, pb::ProcedureInfo& out);
void FillHistory(const procedure::StepHistoryEntry& entry, pb::ProcedureStepRecord& out);
void FillLock(const procedure::LockInfo& lock, pb::LockInfo& out);

}  // namespace ratchet::host
