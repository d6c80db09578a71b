// HBase's MasterService: replication peers.
#pragma once

#include "common/model/proto/replication.pb.h"
#include "common/rpc/method.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::methods {

inline constexpr rpc::Method<hbase::pb::AddReplicationPeerRequest, hbase::pb::AddReplicationPeerResponse>
    kAddReplicationPeer{kMasterService, "AddReplicationPeer"};
inline constexpr rpc::Method<hbase::pb::RemoveReplicationPeerRequest, hbase::pb::RemoveReplicationPeerResponse>
    kRemoveReplicationPeer{kMasterService, "RemoveReplicationPeer"};
inline constexpr rpc::Method<hbase::pb::EnableReplicationPeerRequest, hbase::pb::EnableReplicationPeerResponse>
    kEnableReplicationPeer{kMasterService, "EnableReplicationPeer"};
inline constexpr rpc::Method<hbase::pb::DisableReplicationPeerRequest, hbase::pb::DisableReplicationPeerResponse>
    kDisableReplicationPeer{kMasterService, "DisableReplicationPeer"};
inline constexpr rpc::Method<hbase::pb::UpdateReplicationPeerConfigRequest,
                             hbase::pb::UpdateReplicationPeerConfigResponse>
    kUpdateReplicationPeerConfig{kMasterService, "UpdateReplicationPeerConfig"};
inline constexpr rpc::Method<hbase::pb::GetReplicationPeerConfigRequest, hbase::pb::GetReplicationPeerConfigResponse>
    kGetReplicationPeerConfig{kMasterService, "GetReplicationPeerConfig", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ListReplicationPeersRequest, hbase::pb::ListReplicationPeersResponse>
    kListReplicationPeers{kMasterService, "ListReplicationPeers", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::GetReplicationPeerStateRequest, hbase::pb::GetReplicationPeerStateResponse>
    kIsReplicationPeerEnabled{kMasterService, "IsReplicationPeerEnabled", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::ReplicationPeerModificationSwitchRequest,
                             hbase::pb::ReplicationPeerModificationSwitchResponse>
    kReplicationPeerModificationSwitch{kMasterService, "ReplicationPeerModificationSwitch"};
inline constexpr rpc::Method<hbase::pb::GetReplicationPeerModificationProceduresRequest,
                             hbase::pb::GetReplicationPeerModificationProceduresResponse>
    kGetReplicationPeerModificationProcedures{kMasterService, "GetReplicationPeerModificationProcedures",
                                              rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::IsReplicationPeerModificationEnabledRequest,
                             hbase::pb::IsReplicationPeerModificationEnabledResponse>
    kIsReplicationPeerModificationEnabled{kMasterService, "IsReplicationPeerModificationEnabled",
                                          rpc::Effect::kQueries};
// Ratchet's own addition: the progress of each source.
inline constexpr rpc::Method<hbase::pb::GetReplicationProgressRequest, hbase::pb::GetReplicationProgressResponse>
    kGetReplicationProgress{kMasterService, "GetReplicationProgress", rpc::Effect::kQueries};

}  // namespace ratchet::methods
