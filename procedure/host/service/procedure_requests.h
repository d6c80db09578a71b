// The requests of RatchetService that only look at an executor. Any thread, from its Recover on.
#pragma once

#include <functional>

#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "procedure/executor.h"
#include "procedure/host/service/procedure_views.h"

namespace ratchet::host {

// How one procedure is told; a host whose procedures have more to tell gives one of its own.
using TellProcedure = std::function<void(const procedure::ProcedureInfo&, pb::ProcedureInfo&)>;

[[nodiscard]] pb::ListProceduresResponse ListProcedures(const procedure::Executor& executor,
                                                        const pb::ListProceduresRequest& request,
                                                        const TellProcedure& tell = FillProcedure);
[[nodiscard]] pb::GetProcedureResponse GetProcedure(const procedure::Executor& executor,
                                                    const pb::GetProcedureRequest& request,
                                                    const TellProcedure& tell = FillProcedure);
[[nodiscard]] pb::ListLocksResponse ListLocks(const procedure::Executor& executor);
// HBase's form, which waiting clients ask for; a result that is there counts as seen, and may be forgotten soon.
[[nodiscard]] hbase::pb::GetProcedureResultResponse ResultOf(procedure::Executor& executor,
                                                             const hbase::pb::GetProcedureResultRequest& request);

}  // namespace ratchet::host
