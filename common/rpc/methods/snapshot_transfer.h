// RatchetService: export and import of snapshots. Each returns a pid.
#pragma once

#include "common/model/proto/snapshot_transfer.pb.h"
#include "common/rpc/method.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::methods {

inline constexpr rpc::Method<pb::ExportSnapshotRequest, pb::SnapshotTransferResponse> kExportSnapshot{kRatchetService,
                                                                                                      "ExportSnapshot"};
inline constexpr rpc::Method<pb::ImportSnapshotRequest, pb::SnapshotTransferResponse> kImportSnapshot{kRatchetService,
                                                                                                      "ImportSnapshot"};

}  // namespace ratchet::methods
