// The requests of RatchetService with which an operator acts on an executor and watches it. `done` is called once:
// after the commit, or with the reason of the refusal. Any thread, from the executor's Recover on.
#pragma once

#include <functional>

#include "common/base/result.h"
#include "common/model/proto/operator.pb.h"
#include "common/rpc/call.h"
#include "procedure/api/executor.h"
#include "procedure/api/store.h"

namespace ratchet::host {

template <class Response>
using Done = std::function<void(Result<Response>)>;

[[nodiscard]] Result<procedure::PauseScope> ScopeOf(const pb::PauseScope& scope);
// `scope`: from the request; the host has checked that its target exists, if it can check this.
void Pause(procedure::Executor& executor, const rpc::CallContext& call, procedure::PauseScope scope,
           const pb::PauseRequest& request, Done<pb::PauseResponse> done);
void Resume(procedure::Executor& executor, const rpc::CallContext& call, const pb::ResumeRequest& request,
            Done<pb::ResumeResponse> done);
void ActOnProcedure(procedure::Executor& executor, const rpc::CallContext& call,
                    const pb::ProcedureVerbRequest& request, Done<pb::ProcedureVerbResponse> done);
[[nodiscard]] pb::ListPausesResponse ListPauses(const procedure::Executor& executor);
// Answers when there are events, or with none before the client's time-out. `epoch`: the executor's.
void ListEvents(procedure::Executor& executor, const rpc::CallContext& call, const pb::ListEventsRequest& request,
                Epoch epoch, std::function<void(pb::ListEventsResponse)> done);
[[nodiscard]] pb::GetMetricsResponse GetMetrics(const procedure::Executor& executor,
                                                const procedure::ProcedureStore& store);
// Converts the error of a refused verb to one that clients do not retry, because the operator must correct the verb.
// Errors that a later attempt or another master can avoid stay as they are.
[[nodiscard]] Error Refusal(const Error& error);

}  // namespace ratchet::host
