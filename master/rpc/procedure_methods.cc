// MasterService: results, abort, and HBase's own views of procedures and locks.
#include "common/model/proto/master.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/procedure_view.h"
#include "master/rpc/reply.h"
#include "master/rpc/targets.h"
#include "master/startup/master_logic.h"
#include "procedure/api/executor.h"
#include "procedure/ops/procedure_requests.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
using procedure::ProcedureInfo;

// The answer about a procedure of another user is the one about a procedure that does not exist.
Result<pb::GetProcedureResultResponse> ResultOf(const ServiceEnv& env, const ActiveParts& parts,
                                                const rpc::CallContext& call,
                                                const pb::GetProcedureResultRequest& request) {
  const auto info = SeesAll(env, call) ? std::nullopt : parts.executor->Get(ProcId(request.proc_id()));
  if (info.has_value() && !Sees(env, call, {rights::Scope::Global(), rights::Action::kAdmin, false, info->owner})) {
    pb::GetProcedureResultResponse unknown;
    unknown.set_state(pb::GetProcedureResultResponse::NOT_FOUND);
    return unknown;
  }
  return host::ResultOf(*parts.executor, request);
}

void AbortProcedure(const ActiveParts& parts, const rpc::CallContext& call, const pb::AbortProcedureRequest& request,
                    const rpc::Responder<pb::AbortProcedureResponse>& responder) {
  parts.executor->Abort(ProcId(request.proc_id()), {call.user, "asked for by a client"},
                        [parts, responder](const Status& aborted) {
                          pb::AbortProcedureResponse response;
                          response.set_is_procedure_aborted(aborted.ok());
                          ReplyChecked(parts, responder, response);
                        });
}

Result<pb::GetProceduresResponse> Procedures(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                             const pb::GetProceduresRequest& /*request*/) {
  pb::GetProceduresResponse response;
  for (const ProcedureInfo& info : parts.executor->List()) FillHbaseProcedure(info, *response.add_procedure());
  return response;
}

// Cluster and meta locks have no type in the protocol; meta's lock is shown as the lock of its table.
std::optional<pb::LockedResourceType> TypeOf(const procedure::ResourceKey& key) {
  switch (key.kind) {
    case procedure::ResourceKind::kServer: return pb::SERVER;
    case procedure::ResourceKind::kNamespace: return pb::NAMESPACE;
    case procedure::ResourceKind::kTable: return pb::TABLE;
    case procedure::ResourceKind::kRegion: return pb::REGION;
    case procedure::ResourceKind::kPeer: return pb::PEER;
    case procedure::ResourceKind::kMeta: return pb::TABLE;
    case procedure::ResourceKind::kCluster: return std::nullopt;
  }
  return std::nullopt;
}

Result<pb::GetLocksResponse> Locks(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                   const pb::GetLocksRequest& /*request*/) {
  pb::GetLocksResponse response;
  for (const procedure::LockInfo& lock : parts.executor->Locks()) {
    const auto type = TypeOf(lock.key);
    if (!type.has_value() || (lock.exclusive.empty() && lock.shared.empty())) continue;
    auto& out = *response.add_lock();
    const bool exclusive = !lock.exclusive.empty();
    out.set_resource_type(*type);
    out.set_resource_name(lock.key.kind == procedure::ResourceKind::kMeta ? MetaTableName().ToString() : lock.key.name);
    out.set_lock_type(exclusive ? pb::EXCLUSIVE : pb::SHARED);
    out.set_shared_lock_count(exclusive ? 0 : static_cast<std::int32_t>(lock.shared.size()));
    if (exclusive) {
      const auto holder = parts.executor->Get(lock.exclusive.front());
      if (holder.has_value()) FillHbaseProcedure(*holder, *out.mutable_exclusive_lock_owner_procedure());
    }
    for (const procedure::LockWaiter& waiter : lock.waiters) {
      const auto info = parts.executor->Get(waiter.pid);
      if (info.has_value()) FillHbaseProcedure(*info, *out.add_waitingprocedures());
    }
  }
  return response;
}

}  // namespace

void AddProcedureMethods(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  Answer(service, gate, Need::kWorkers, methods::kGetProcedureResult,
         [&env](const ActiveParts& parts, const rpc::CallContext& call, const pb::GetProcedureResultRequest& request) {
           return ResultOf(env, parts, call, request);
         });
  AnswerLater(service, gate, Need::kWorkers, methods::kAbortProcedure, AbortProcedure);
  Answer(service, gate, Need::kRecovered, methods::kGetProcedures, Procedures);
  Answer(service, gate, Need::kRecovered, methods::kGetLocks, Locks);
}

}  // namespace ratchet::master
