// Converts a procedure to HBase's message.
#pragma once

#include "common/model/proto/procedure.pb.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

// Sends no state messages, because HBase's clients fail on unknown types (docs/wire-compatibility.md).
void FillHbaseProcedure(const procedure::ProcedureInfo& info, hbase::pb::Procedure& out);

}  // namespace ratchet::master
