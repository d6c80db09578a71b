#include "common/client/snapshots.h"

#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::client {
Result<std::uint64_t> Snapshots::Take(const std::string& name, const TableName& table, const Options& options) {
  hbase::pb::SnapshotRequest request;
  auto* snapshot = request.mutable_snapshot();
  snapshot->set_name(name);
  snapshot->set_table(table.ToString());
  snapshot->set_type(options.flush ? hbase::pb::SnapshotDescription::FLUSH : hbase::pb::SnapshotDescription::SKIPFLUSH);
  if (options.ttl_seconds != 0) snapshot->set_ttl(options.ttl_seconds);
  return admin_.Submit(methods::kSnapshot, request);
}

Result<std::uint64_t> Snapshots::PutBack(const std::string& name, const TableName& table, bool with_rights) {
  hbase::pb::RestoreSnapshotRequest request;
  request.mutable_snapshot()->set_name(name);
  request.mutable_snapshot()->set_table(table.ToString());
  request.set_restoreacl(with_rights);
  return admin_.Submit(methods::kRestoreSnapshot, request);
}

Result<std::vector<hbase::pb::SnapshotDescription>> Snapshots::List() {
  RATCHET_ASSIGN(const auto response, (admin_.Call(methods::kGetCompletedSnapshots, {})));
  return std::vector<hbase::pb::SnapshotDescription>(response.snapshots().begin(), response.snapshots().end());
}

Status Snapshots::Delete(const std::string& name) {
  hbase::pb::DeleteSnapshotRequest request;
  request.mutable_snapshot()->set_name(name);
  const auto response = admin_.Call(methods::kDeleteSnapshot, request);
  return response.ok() ? Ok() : Status(response.error());
}

Result<std::uint64_t> Snapshots::Export(const std::string& name, const std::string& directory) {
  pb::ExportSnapshotRequest request;
  request.set_snapshot(name);
  request.set_directory(directory);
  return admin_.Submit(methods::kExportSnapshot, request);
}

Result<std::uint64_t> Snapshots::Import(const std::string& directory, const std::string& name) {
  pb::ImportSnapshotRequest request;
  request.set_directory(directory);
  if (!name.empty()) request.set_snapshot(name);
  return admin_.Submit(methods::kImportSnapshot, request);
}

}  // namespace ratchet::client
