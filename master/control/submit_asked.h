// Submitting what an administrator asks for: the nonce first, then what the request must wait for, then the procedure.
#pragma once

#include <functional>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "master/control/table_admin.h"
#include "procedure/author/procedure.h"

namespace ratchet::master {

// `done`: the pid once it is durable; that of an earlier request with this nonce; or why there is none.
// PleaseHoldException until hbase:meta is loaded, unless `without_meta`. `pre_check` may be empty; it is called under
// the executor's lock, so it asks the executor nothing.
void SubmitAsked(MasterEnv& env, procedure::ProcedurePtr procedure, RequestContext context,
                 std::function<Status()> pre_check, std::function<void(Result<ProcId>)> done,
                 bool without_meta = false);

}  // namespace ratchet::master
