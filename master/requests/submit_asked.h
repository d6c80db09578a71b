// Submits a procedure for an administrator: checks the nonce, then whether the request must wait, then submits.
#pragma once

#include <functional>
#include <string>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure.h"

namespace ratchet::master {

struct MasterEnv;

struct RequestContext {
  std::string user;
  procedure::Nonce nonce;
  procedure::Origin origin{};  // recorded with the procedure
};

// Called once, with the pid when it is durable, or with the error.
using PidDone = std::function<void(Result<ProcId>)>;

// The nonce under which the executor knows the request. While users are judged it belongs to its user, S166
// (others' objects stay unknown).
[[nodiscard]] procedure::Nonce NonceOf(const RequestContext& context, bool judges_users);

// Returns true if `done` was called: with the pid of an earlier request with this nonce, even if its table or region
// has changed meanwhile; or with PleaseHoldException until hbase:meta is loaded, unless `without_meta`.
bool AnsweredAtOnce(MasterEnv& env, const RequestContext& context, const PidDone& done, bool without_meta = false);

// Returns true if HBase's client does not retry after this error. After every other error it retries with the same
// nonce.
[[nodiscard]] bool IsFinalForClients(const Error& error);

// Calls `done` as AnsweredAtOnce does, else when the procedure is submitted or refused. `pre_check` may be empty; it
// runs under the executor's lock, so it must not call the executor.
void SubmitAsked(MasterEnv& env, procedure::ProcedurePtr procedure, RequestContext context,
                 std::function<Status()> pre_check, PidDone done, bool without_meta = false);

}  // namespace ratchet::master
