// A procedure as HBase's messages show it.
#pragma once

#include "common/model/proto/procedure.pb.h"
#include "procedure/executor.h"

namespace ratchet::master {

// HBase's clients choke on state messages of types they do not know (docs/wire-compatibility.md), so there are none.
void FillHbaseProcedure(const procedure::ProcedureInfo& info, hbase::pb::Procedure& out);

}  // namespace ratchet::master
