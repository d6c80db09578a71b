// MasterService: snapshots; and RatchetService's exports and imports of them.
#include <utility>

#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// How long clients that do not wait for the procedure poll for the end of the snapshot.
constexpr std::int64_t kExpectedMillis = 300'000;

void TakeSnapshot(const ActiveParts& parts, const rpc::CallContext& call, const pb::SnapshotRequest& request,
                  const rpc::Responder<pb::SnapshotResponse>& responder) {
  parts.logic->snapshot_admin.TakeSnapshot(request.snapshot(), ContextOf(call, request),
                                           [parts, responder](const Result<ProcId>& pid) {
                                             if (!pid.ok()) return FailChecked(parts, responder, pid.error());
                                             pb::SnapshotResponse response;
                                             response.set_expected_timeout(kExpectedMillis);
                                             response.set_proc_id(static_cast<std::int64_t>(pid->value()));
                                             responder.Reply(response);
                                           });
}

void RestoreSnapshot(const ActiveParts& parts, const rpc::CallContext& call, const pb::RestoreSnapshotRequest& request,
                     const rpc::Responder<pb::RestoreSnapshotResponse>& responder) {
  const auto table = TableName::Parse(request.snapshot().table());
  if (!table.ok()) {
    responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, table.error().message()));
    return;
  }
  parts.logic->snapshot_admin.PutBack(request.snapshot().name(), *table, ContextOf(call, request),
                                      AnswerPid(parts, responder));
}

void ListSnapshots(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                   const pb::GetCompletedSnapshotsRequest& /*request*/,
                   const rpc::Responder<pb::GetCompletedSnapshotsResponse>& responder) {
  parts.logic->snapshot_admin.List([parts, responder](const Result<std::vector<pb::SnapshotDescription>>& all) {
    if (!all.ok()) return FailChecked(parts, responder, all.error());
    pb::GetCompletedSnapshotsResponse response;
    for (const pb::SnapshotDescription& snapshot : *all) *response.add_snapshots() = snapshot;
    ReplyChecked(parts, responder, response);
  });
}

void DeleteSnapshot(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                    const pb::DeleteSnapshotRequest& request,
                    const rpc::Responder<pb::DeleteSnapshotResponse>& responder) {
  parts.logic->snapshot_admin.Delete(request.snapshot().name(), [parts, responder](const Status& deleted) {
    if (!deleted.ok()) return FailChecked(parts, responder, deleted.error());
    ReplyChecked(parts, responder, pb::DeleteSnapshotResponse());
  });
}

void IsSnapshotDone(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                    const pb::IsSnapshotDoneRequest& request,
                    const rpc::Responder<pb::IsSnapshotDoneResponse>& responder) {
  parts.logic->snapshot_admin.IsDone(request.snapshot().name(),
                                     [parts, responder, snapshot = request.snapshot()](const Result<bool>& done) {
                                       if (!done.ok()) return FailChecked(parts, responder, done.error());
                                       pb::IsSnapshotDoneResponse response;
                                       response.set_done(*done);
                                       *response.mutable_snapshot() = snapshot;
                                       ReplyChecked(parts, responder, response);
                                     });
}

void ExportIt(const ActiveParts& parts, const rpc::CallContext& call,
              const ::ratchet::pb::ExportSnapshotRequest& request,
              const rpc::Responder<::ratchet::pb::SnapshotTransferResponse>& responder) {
  parts.logic->snapshot_admin.Export(request.snapshot(), request.directory(),
                                     {call.user, {request.nonce_group(), request.nonce()}},
                                     AnswersPid(parts, responder));
}

void ImportIt(const ActiveParts& parts, const rpc::CallContext& call,
              const ::ratchet::pb::ImportSnapshotRequest& request,
              const rpc::Responder<::ratchet::pb::SnapshotTransferResponse>& responder) {
  parts.logic->snapshot_admin.Import(request.directory(), request.snapshot(),
                                     {call.user, {request.nonce_group(), request.nonce()}},
                                     AnswersPid(parts, responder));
}

}  // namespace

void AddSnapshotTransferMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kExportSnapshot, ExportIt);
  AnswerLater(service, env.gate, Need::kReady, methods::kImportSnapshot, ImportIt);
}

void AddSnapshotMethods(rpc::Service& service, ServiceEnv& env) {
  const MasterGate& gate = env.gate;
  AnswerLater(service, gate, Need::kReady, methods::kSnapshot, TakeSnapshot);
  AnswerLater(service, gate, Need::kReady, methods::kRestoreSnapshot, RestoreSnapshot);
  AnswerLater(service, gate, Need::kReady, methods::kGetCompletedSnapshots, ListSnapshots);
  AnswerLater(service, gate, Need::kReady, methods::kDeleteSnapshot, DeleteSnapshot);
  AnswerLater(service, gate, Need::kReady, methods::kIsSnapshotDone, IsSnapshotDone);
}

}  // namespace ratchet::master
