// Submitting what an administrator asks for: the nonce first, then what the request must wait for, then the procedure.
#pragma once

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/author/procedure.h"
#include "procedure/executor.h"

namespace ratchet::master {

struct MasterEnv;

struct RequestContext {
  std::string user;
  procedure::Nonce nonce;
};

// Called once, with the pid when it is durable, or why there is none.
using PidDone = std::function<void(Result<ProcId>)>;

// Whether `done` was called: with the pid of an earlier request with this nonce, whatever has become of its table or
// region meanwhile; or with PleaseHoldException until hbase:meta is loaded, unless `without_meta`.
bool AnsweredAtOnce(MasterEnv& env, const RequestContext& context, const PidDone& done, bool without_meta = false);

// `done`: as AnsweredAtOnce; else when the procedure is submitted or refused. `pre_check` may be empty; it is
// called under the executor's lock, so it asks the executor nothing.
void SubmitAsked(MasterEnv& env, procedure::ProcedurePtr procedure, RequestContext context,
                 std::function<Status()> pre_check, PidDone done, bool without_meta = false);

}  // namespace ratchet::master
