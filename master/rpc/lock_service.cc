// LockService: locks for holders outside the master, kept while heartbeats come (procedure/api/lock_procedure.h).
#include "common/rpc/methods/lock_service.h"
#include "common/model/codec.h"
#include "common/model/proto/procedure.pb.h"
#include "common/rights/judge.h"
#include "common/rights/need.h"
#include "common/rpc/exceptions.h"
#include "master/cluster/lock_keys.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/rpc/targets.h"
#include "procedure/api/executor.h"
#include "procedure/api/lock_procedure.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
using procedure::LockRequest;
using procedure::ResourceKey;

Result<std::vector<LockRequest>> LocksOf(const pb::LockRequest& request) {
  const auto mode =
      request.lock_type() == pb::EXCLUSIVE ? procedure::LockMode::kExclusive : procedure::LockMode::kShared;
  const int named = (request.has_namespace_() ? 1 : 0) + (request.has_table_name() ? 1 : 0) +
                    (request.region_info_size() > 0 ? 1 : 0);
  if (named != 1) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            "a lock request must name one of: a namespace, a table, regions");
  }
  std::vector<LockRequest> locks;
  if (request.has_namespace_()) {
    locks.push_back({ResourceKey::Namespace(request.namespace_()), mode});
    if (request.namespace_() == kSystemNamespace) locks.push_back({ResourceKey::Meta(), mode});
  }
  if (request.has_table_name()) {
    RATCHET_ASSIGN(const TableName table, FromProto(request.table_name()));
    locks.push_back({TableKey(table), mode});
  }
  for (const pb::RegionInfo& info : request.region_info()) {
    RATCHET_ASSIGN(const RegionInfo region, FromProto(info));
    locks.push_back({RegionKey(region), mode});
  }
  return locks;
}

void RequestLock(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
                 const pb::LockRequest& request, const rpc::Responder<pb::LockResponse>& responder) {
  auto locks = LocksOf(request);
  if (!locks.ok()) return FailChecked(parts, responder, locks.error());
  procedure::SubmitOptions options;
  options.owner = call.user.empty() ? std::string(rights::kUnnamedOwner)
                                    : call.user;  // without an owner it would count as the master's
  RequestContext context = ContextOf(call, request);
  options.nonce = NonceOf(context, env.judge != nullptr && env.judge->judges());
  options.origin = std::move(context.origin);
  parts.executor->SubmitAsync(procedure::LockProcedure::Make(*locks, request.description(), env.remote_lock_timeout),
                              std::move(options), [parts, responder](const Result<ProcId>& pid) {
                                if (!pid.ok()) return FailChecked(parts, responder, pid.error());
                                pb::LockResponse response;
                                response.set_proc_id(pid->value());
                                ReplyChecked(parts, responder, response);
                              });
}

void HandleLockHeartbeat(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                         const pb::LockHeartbeatRequest& request,
                         const rpc::Responder<pb::LockHeartbeatResponse>& responder) {
  const ProcId pid(request.proc_id());
  pb::LockHeartbeatResponse response;
  response.set_lock_status(pb::LockHeartbeatResponse::UNLOCKED);
  if (!request.keep_alive()) {
    procedure::ReleaseLock(*parts.executor, pid, [parts, responder, response](const Status& released) {
      if (!released.ok()) return FailChecked(parts, responder, released.error());
      ReplyChecked(parts, responder, response);
    });
    return;
  }
  const procedure::LockBeat beat = procedure::BeatLock(*parts.executor, pid);
  if (beat.held) response.set_lock_status(pb::LockHeartbeatResponse::LOCKED);
  if (beat.timeout.count() > 0) response.set_timeout_ms(static_cast<std::uint32_t>(beat.timeout.count()));
  ReplyChecked(parts, responder, response);
}

}  // namespace

std::shared_ptr<rpc::Service> MakeLockService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kLockService);
  AnswerLater(
      *service, env.gate, Need::kReady, methods::kRequestLock,
      [&env](const ActiveParts& parts, const rpc::CallContext& call, const pb::LockRequest& request,
             const rpc::Responder<pb::LockResponse>& responder) { RequestLock(env, parts, call, request, responder); });
  // Accepted as soon as the locks are restored, so that no holder loses its lock during a slow start.
  AnswerLater(*service, env.gate, Need::kWorkers, methods::kLockHeartbeat, HandleLockHeartbeat);
  AddLockTargets(*service, env);
  return service;
}

}  // namespace ratchet::master
