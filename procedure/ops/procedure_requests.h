// The requests of RatchetService that only read from an executor. Any thread, from its Recover on.
#pragma once

#include <functional>

#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "procedure/api/executor.h"
#include "procedure/ops/procedure_views.h"

namespace ratchet::host {

// Fills in the message of one procedure; a host whose procedures have more to show passes its own function.
using FillProcedureInfo = std::function<void(const procedure::ProcedureInfo&, pb::ProcedureInfo&)>;

[[nodiscard]] pb::ListProceduresResponse ListProcedures(const procedure::Executor& executor,
                                                        const pb::ListProceduresRequest& request,
                                                        const FillProcedureInfo& tell = FillProcedure);
[[nodiscard]] pb::GetProcedureResponse GetProcedure(const procedure::Executor& executor,
                                                    const pb::GetProcedureRequest& request,
                                                    const FillProcedureInfo& tell = FillProcedure);
[[nodiscard]] pb::ListLocksResponse ListLocks(const procedure::Executor& executor);
// HBase's form, which waiting clients ask for. A result that is returned counts as seen, and may be forgotten soon.
[[nodiscard]] hbase::pb::GetProcedureResultResponse ResultOf(procedure::Executor& executor,
                                                             const hbase::pb::GetProcedureResultRequest& request);

}  // namespace ratchet::host
