#include "procedure/ops/procedure_requests.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/rpc/exceptions.h"

namespace ratchet::host {

using procedure::ProcedureInfo;
using procedure::ProcedureResult;

pb::ListProceduresResponse ListProcedures(const procedure::Executor& executor, const pb::ListProceduresRequest& request,
                                          const FillProcedureInfo& tell) {
  pb::ListProceduresResponse response;
  for (const ProcedureInfo& info : executor.List()) {
    if (procedure::IsTerminal(info.state) && !request.include_finished()) continue;
    if (static_cast<std::uint32_t>(response.procedure_size()) >= request.limit()) {
      response.set_truncated(true);
      break;
    }
    pb::ProcedureInfo& out = *response.add_procedure();
    tell(info, out);
    if (!request.include_history()) continue;
    for (const auto& entry : executor.History(info.pid)) FillHistory(entry, *out.add_history());
  }
  return response;
}

pb::GetProcedureResponse GetProcedure(const procedure::Executor& executor, const pb::GetProcedureRequest& request,
                                      const FillProcedureInfo& tell) {
  pb::GetProcedureResponse response;
  const ProcId pid(request.pid());
  const auto info = executor.Get(pid);
  if (!info.has_value()) return response;
  tell(*info, *response.mutable_procedure());
  for (const auto& entry : executor.History(pid)) FillHistory(entry, *response.mutable_procedure()->add_history());
  for (const ProcedureInfo& other : executor.Tree(pid)) {
    pb::ProcedureInfo& member = *response.add_tree();
    tell(other, member);
    if (!request.tree_history()) continue;
    for (const auto& entry : executor.History(other.pid)) FillHistory(entry, *member.add_history());
  }
  const std::string chain = executor.WaitFor().Chain(pid);
  if (!chain.empty()) response.add_wait_chain(chain);
  return response;
}

pb::ListLocksResponse ListLocks(const procedure::Executor& executor) {
  pb::ListLocksResponse response;
  std::vector<ProcId> waiting;
  for (const procedure::LockInfo& lock : executor.Locks()) {
    FillLock(lock, *response.add_lock());
    for (const procedure::LockWaiter& waiter : lock.waiters) waiting.push_back(waiter.pid);
  }
  for (const procedure::LimitInfo& limit : executor.Limits()) {
    auto& row = *response.add_limit();
    row.set_resource(limit.key.ToString());
    row.set_limit(limit.limit);
    for (const ProcId pid : limit.running) row.add_running(pid.value());
    for (const ProcId pid : limit.waiting) row.add_waiter(pid.value());
    waiting.insert(waiting.end(), limit.waiting.begin(), limit.waiting.end());
  }
  const procedure::WaitForGraph graph = executor.WaitFor();
  std::sort(waiting.begin(), waiting.end());
  waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
  for (const ProcId pid : waiting) {
    if (std::string chain = graph.Chain(pid); !chain.empty()) response.add_wait_chain(std::move(chain));
  }
  for (const auto& cycle : graph.cycles) {
    std::string text;
    for (const ProcId pid : cycle) text += fmt::format("{}pid={}", text.empty() ? "" : " -> ", pid);
    response.add_cycle(text);
  }
  return response;
}

hbase::pb::GetProcedureResultResponse ResultOf(procedure::Executor& executor,
                                               const hbase::pb::GetProcedureResultRequest& request) {
  using Response = hbase::pb::GetProcedureResultResponse;
  const ProcId pid(request.proc_id());
  const ProcedureResult result = executor.GetResult(pid);
  Response response;
  if (result.status == ProcedureResult::Status::kNotFound) {
    response.set_state(Response::NOT_FOUND);
    return response;
  }
  response.set_submitted_time(static_cast<std::uint64_t>(result.submitted_ms));
  if (!result.finished()) {
    response.set_state(Response::RUNNING);
    return response;
  }
  response.set_state(Response::FINISHED);
  response.set_last_update(static_cast<std::uint64_t>(result.finished_ms));
  if (result.error.has_value()) {
    rpc::FillForeign(*result.error, fmt::format("pid={}", pid), *response.mutable_exception());
  } else if (!result.result.empty()) {
    response.set_result(result.result);
  }
  // The client has seen the result, so it may be forgotten soon. If this answer is lost the client still finds it for a
  // while.
  executor.Ack(pid);
  return response;
}

}  // namespace ratchet::host
