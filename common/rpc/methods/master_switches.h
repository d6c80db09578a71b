// HBase's MasterService: the switches of the whole cluster.
#pragma once

#include "common/model/proto/master.pb.h"
#include "common/model/proto/switches.pb.h"
#include "common/rpc/method.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::methods {

inline constexpr rpc::Method<hbase::pb::SetBalancerRunningRequest, hbase::pb::SetBalancerRunningResponse>
    kSetBalancerRunning{kMasterService, "SetBalancerRunning"};
inline constexpr rpc::Method<hbase::pb::IsBalancerEnabledRequest, hbase::pb::IsBalancerEnabledResponse>
    kIsBalancerEnabled{kMasterService, "IsBalancerEnabled", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::SetSplitOrMergeEnabledRequest, hbase::pb::SetSplitOrMergeEnabledResponse>
    kSetSplitOrMergeEnabled{kMasterService, "SetSplitOrMergeEnabled"};
inline constexpr rpc::Method<hbase::pb::IsSplitOrMergeEnabledRequest, hbase::pb::IsSplitOrMergeEnabledResponse>
    kIsSplitOrMergeEnabled{kMasterService, "IsSplitOrMergeEnabled", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::SetNormalizerRunningRequest, hbase::pb::SetNormalizerRunningResponse>
    kSetNormalizerRunning{kMasterService, "SetNormalizerRunning"};
inline constexpr rpc::Method<hbase::pb::IsNormalizerEnabledRequest, hbase::pb::IsNormalizerEnabledResponse>
    kIsNormalizerEnabled{kMasterService, "IsNormalizerEnabled", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::NormalizeRequest, hbase::pb::NormalizeResponse> kNormalize{kMasterService,
                                                                                                   "Normalize"};
inline constexpr rpc::Method<hbase::pb::EnableCatalogJanitorRequest, hbase::pb::EnableCatalogJanitorResponse>
    kEnableCatalogJanitor{kMasterService, "EnableCatalogJanitor"};
inline constexpr rpc::Method<hbase::pb::IsCatalogJanitorEnabledRequest, hbase::pb::IsCatalogJanitorEnabledResponse>
    kIsCatalogJanitorEnabled{kMasterService, "IsCatalogJanitorEnabled", rpc::Effect::kQueries};
inline constexpr rpc::Method<hbase::pb::RunCatalogScanRequest, hbase::pb::RunCatalogScanResponse> kRunCatalogScan{
    kMasterService, "RunCatalogScan"};
inline constexpr rpc::Method<hbase::pb::SetCleanerChoreRunningRequest, hbase::pb::SetCleanerChoreRunningResponse>
    kSetCleanerChoreRunning{kMasterService, "SetCleanerChoreRunning"};
inline constexpr rpc::Method<hbase::pb::IsCleanerChoreEnabledRequest, hbase::pb::IsCleanerChoreEnabledResponse>
    kIsCleanerChoreEnabled{kMasterService, "IsCleanerChoreEnabled", rpc::Effect::kQueries};
// Answered when the run has ended.
inline constexpr rpc::Method<hbase::pb::RunCleanerChoreRequest, hbase::pb::RunCleanerChoreResponse> kRunCleanerChore{
    kMasterService, "RunCleanerChore"};
inline constexpr rpc::Method<hbase::pb::SetSnapshotCleanupRequest, hbase::pb::SetSnapshotCleanupResponse>
    kSwitchSnapshotCleanup{kMasterService, "SwitchSnapshotCleanup"};
inline constexpr rpc::Method<hbase::pb::IsSnapshotCleanupEnabledRequest, hbase::pb::IsSnapshotCleanupEnabledResponse>
    kIsSnapshotCleanupEnabled{kMasterService, "IsSnapshotCleanupEnabled", rpc::Effect::kQueries};

}  // namespace ratchet::methods
