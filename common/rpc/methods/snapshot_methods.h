// HBase's MasterService: snapshots.
#pragma once

#include "common/model/proto/snapshot.pb.h"
#include "common/rpc/method.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::methods {

inline constexpr rpc::Method<hbase::pb::SnapshotRequest, hbase::pb::SnapshotResponse> kSnapshot{kMasterService,
                                                                                                "Snapshot"};
inline constexpr rpc::Method<hbase::pb::IsSnapshotDoneRequest, hbase::pb::IsSnapshotDoneResponse> kIsSnapshotDone{
    kMasterService, "IsSnapshotDone", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetCompletedSnapshotsRequest, hbase::pb::GetCompletedSnapshotsResponse>
    kGetCompletedSnapshots{kMasterService, "GetCompletedSnapshots", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::DeleteSnapshotRequest, hbase::pb::DeleteSnapshotResponse> kDeleteSnapshot{
    kMasterService, "DeleteSnapshot"};
// Restores into a disabled table, or into a new one.
inline constexpr rpc::Method<hbase::pb::RestoreSnapshotRequest, hbase::pb::RestoreSnapshotResponse> kRestoreSnapshot{
    kMasterService, "RestoreSnapshot"};

}  // namespace ratchet::methods
