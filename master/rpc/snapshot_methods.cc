// MasterService: snapshots; and RatchetService's exports and imports of them.
#include <utility>

#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/own_snapshot.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/rpc/targets.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// How long clients that do not wait for the procedure poll for the end of the snapshot.
constexpr std::int64_t kExpectedMillis = 300'000;

// A snapshot belongs to the user who takes it.
void TakeSnapshot(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
                  const pb::SnapshotRequest& request, const rpc::Responder<pb::SnapshotResponse>& responder) {
  pb::SnapshotDescription asked = request.snapshot();
  if (env.judge != nullptr && env.judge->judges()) asked.clear_owner();
  parts.logic->snapshot_admin.TakeSnapshot(std::move(asked), ContextOf(call, request),
                                           [parts, responder](const Result<ProcId>& pid) {
                                             if (!pid.ok()) return FailChecked(parts, responder, pid.error());
                                             pb::SnapshotResponse response;
                                             response.set_expected_timeout(kExpectedMillis);
                                             response.set_proc_id(static_cast<std::int64_t>(pid->value()));
                                             responder.Reply(response);
                                           });
}

// An administrator may restore everything. Another user restores the own snapshots into tables that the user
// administers, or makes a new table in a namespace with the right to create tables there; under another name than the
// snapshot's table this takes the right to administer the namespace.
Status CheckRestore(const ServiceEnv& env, const rpc::CallContext& call, const pb::SnapshotDescription& found,
                    const TableName& table, bool table_exists, bool restores_rights) {
  const rights::Caller caller = CallerOf(call);
  // S161 (rights return when asked for): this gives rights to others, so it takes A everywhere, as in HBase.
  if (restores_rights && !RATCHET_MUTANT("snapshot.any_user_restores_rights"))
    return env.judge->Check(caller, OwnerOrAdmin({}), call.method);
  if (env.judge->Verdict(caller, OwnerOrAdmin({})).ok()) return Ok();
  RATCHET_TRY(env.judge->Check(caller, OwnerOrAdmin(found.owner()), call.method));
  rights::Demand demand = rights::Demand::Of(rights::Scope::Table(table), rights::Action::kAdmin);
  if (!table_exists) {
    const bool own_name = found.table() == table.ToString();
    demand = rights::Demand::Of(rights::Scope::Namespace(table.ns),
                                own_name ? kAdminOrCreate : rights::Actions(rights::Action::kAdmin));
  }
  return env.judge->Check(caller, demand, call.method);
}

void RestoreSnapshot(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
                     const pb::RestoreSnapshotRequest& request,
                     const rpc::Responder<pb::RestoreSnapshotResponse>& responder) {
  const auto table = TableName::Parse(request.snapshot().table());
  if (!table.ok()) {
    responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, table.error().message()));
    return;
  }
  const bool existed = parts.logic->tables.Get(*table).has_value();
  WithSnapshot(
      env, parts, responder, request.snapshot().name(),
      [&env, responder, table = *table, existed, rights = request.restoreacl()](const pb::SnapshotDescription& found) {
        return CheckRestore(env, responder.context(), found, table, existed, rights);
      },
      [parts, responder, table = *table, existed, rights = request.restoreacl(), name = request.snapshot().name(),
       context = ContextOf(call, request)](std::optional<pb::SnapshotDescription> found) {
        std::optional<SnapshotAdmin::Permitted> permitted;
        if (found.has_value()) permitted = SnapshotAdmin::Permitted{*std::move(found), existed};
        parts.logic->snapshot_admin.PutBack(name, table, context, AnswerPid(parts, responder), permitted, rights);
      });
}

void ListSnapshots(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& /*call*/,
                   const pb::GetCompletedSnapshotsRequest& /*request*/,
                   const rpc::Responder<pb::GetCompletedSnapshotsResponse>& responder) {
  parts.logic->snapshot_admin.List([&env, parts, responder](const Result<std::vector<pb::SnapshotDescription>>& all) {
    if (!all.ok()) return FailChecked(parts, responder, all.error());
    pb::GetCompletedSnapshotsResponse response;
    for (const pb::SnapshotDescription& snapshot : *all) {
      if (Sees(env, responder.context(), OwnerOrAdmin(snapshot.owner()))) *response.add_snapshots() = snapshot;
    }
    ReplyChecked(parts, responder, response);
  });
}

void DeleteSnapshot(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& /*call*/,
                    const pb::DeleteSnapshotRequest& request,
                    const rpc::Responder<pb::DeleteSnapshotResponse>& responder) {
  const std::string& name = request.snapshot().name();
  WithOwnSnapshot(env, parts, responder, name, [parts, responder, name](const auto& /*found*/) {
    parts.logic->snapshot_admin.Delete(name, [parts, responder](const Status& deleted) {
      if (!deleted.ok()) return FailChecked(parts, responder, deleted.error());
      ReplyChecked(parts, responder, pb::DeleteSnapshotResponse());
    });
  });
}

void IsSnapshotDone(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& /*call*/,
                    const pb::IsSnapshotDoneRequest& request,
                    const rpc::Responder<pb::IsSnapshotDoneResponse>& responder) {
  const pb::SnapshotDescription& asked = request.snapshot();
  WithOwnSnapshot(env, parts, responder, asked.name(), [parts, responder, asked](const auto& /*found*/) {
    parts.logic->snapshot_admin.IsDone(asked.name(), [parts, responder, asked](const Result<bool>& done) {
      if (!done.ok()) return FailChecked(parts, responder, done.error());
      pb::IsSnapshotDoneResponse response;
      response.set_done(*done);
      *response.mutable_snapshot() = asked;
      ReplyChecked(parts, responder, response);
    });
  });
}

void ExportIt(const ActiveParts& parts, const rpc::CallContext& call,
              const ::ratchet::pb::ExportSnapshotRequest& request,
              const rpc::Responder<::ratchet::pb::SnapshotTransferResponse>& responder) {
  parts.logic->snapshot_admin.Export(request.snapshot(), request.directory(), ContextOf(call, request),
                                     AnswersPid(parts, responder));
}

void ImportIt(const ActiveParts& parts, const rpc::CallContext& call,
              const ::ratchet::pb::ImportSnapshotRequest& request,
              const rpc::Responder<::ratchet::pb::SnapshotTransferResponse>& responder) {
  parts.logic->snapshot_admin.Import(request.directory(), request.snapshot(), ContextOf(call, request),
                                     AnswersPid(parts, responder));
}

}  // namespace

void AddSnapshotTransferMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kExportSnapshot, ExportIt);
  AnswerLater(service, env.gate, Need::kReady, methods::kImportSnapshot, ImportIt);
}

namespace {

template <class Request, class Response>
void AddWith(rpc::Service& service, ServiceEnv& env, const rpc::Method<Request, Response>& method,
             void (*run)(const ServiceEnv&, const ActiveParts&, const rpc::CallContext&, const Request&,
                         const rpc::Responder<Response>&)) {
  AnswerLater(service, env.gate, Need::kReady, method,
              [&env, run](const ActiveParts& parts, const rpc::CallContext& call, const Request& request,
                          const rpc::Responder<Response>& responder) { run(env, parts, call, request, responder); });
}

}  // namespace

void AddSnapshotMethods(rpc::Service& service, ServiceEnv& env) {
  AddWith(service, env, methods::kSnapshot, &TakeSnapshot);
  AddWith(service, env, methods::kRestoreSnapshot, &RestoreSnapshot);
  AddWith(service, env, methods::kGetCompletedSnapshots, &ListSnapshots);
  AddWith(service, env, methods::kDeleteSnapshot, &DeleteSnapshot);
  AddWith(service, env, methods::kIsSnapshotDone, &IsSnapshotDone);
}

}  // namespace ratchet::master
