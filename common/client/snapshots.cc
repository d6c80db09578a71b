#include "common/client/snapshots.h"

#include "common/rpc/methods/snapshot_methods.h"

namespace ratchet::client {
namespace {

template <class Request, class Response>
Result<Response> CallMaster(Connection& connection, Millis timeout, const rpc::Method<Request, Response>& method,
                            const Request& request) {
  RetryLoop loop = connection.NewLoop(timeout);
  return connection.master().Call(loop, method, request);
}

template <class Request, class Response>
Result<std::uint64_t> SubmitToMaster(Connection& connection, Millis timeout,
                                     const rpc::Method<Request, Response>& method, Request& request) {
  request.set_nonce_group(connection.nonce_group());
  request.set_nonce(connection.NewNonce());
  connection.activity().Submitting({request.nonce_group(), request.nonce()});
  RATCHET_ASSIGN(const Response response, CallMaster(connection, timeout, method, request));
  const auto pid = static_cast<std::uint64_t>(response.proc_id());
  connection.activity().Submitted(pid);
  return pid;
}

}  // namespace

Result<std::uint64_t> Snapshots::Take(const std::string& name, const TableName& table, const Options& options) {
  hbase::pb::SnapshotRequest request;
  auto* snapshot = request.mutable_snapshot();
  snapshot->set_name(name);
  snapshot->set_table(table.ToString());
  snapshot->set_type(options.flush ? hbase::pb::SnapshotDescription::FLUSH : hbase::pb::SnapshotDescription::SKIPFLUSH);
  if (options.ttl_seconds != 0) snapshot->set_ttl(options.ttl_seconds);
  return SubmitToMaster(connection_, timeout_, methods::kSnapshot, request);
}

Result<std::uint64_t> Snapshots::PutBack(const std::string& name, const TableName& table) {
  hbase::pb::RestoreSnapshotRequest request;
  request.mutable_snapshot()->set_name(name);
  request.mutable_snapshot()->set_table(table.ToString());
  return SubmitToMaster(connection_, timeout_, methods::kRestoreSnapshot, request);
}

Result<std::vector<hbase::pb::SnapshotDescription>> Snapshots::List() {
  RATCHET_ASSIGN(const auto response, CallMaster(connection_, timeout_, methods::kGetCompletedSnapshots, {}));
  return std::vector<hbase::pb::SnapshotDescription>(response.snapshots().begin(), response.snapshots().end());
}

Status Snapshots::Delete(const std::string& name) {
  hbase::pb::DeleteSnapshotRequest request;
  request.mutable_snapshot()->set_name(name);
  const auto response = CallMaster(connection_, timeout_, methods::kDeleteSnapshot, request);
  return response.ok() ? Ok() : Status(response.error());
}

Result<bool> Snapshots::IsDone(const std::string& name) {
  hbase::pb::IsSnapshotDoneRequest request;
  request.mutable_snapshot()->set_name(name);
  RATCHET_ASSIGN(const auto response, CallMaster(connection_, timeout_, methods::kIsSnapshotDone, request));
  return response.done();
}

}  // namespace ratchet::client
