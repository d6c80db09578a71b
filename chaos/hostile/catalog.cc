#include "chaos/hostile/catalog.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/caller.pb.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/connections.pb.h"
#include "common/model/proto/decommission.pb.h"
#include "common/model/proto/drain.pb.h"
#include "common/model/proto/hbck.pb.h"
#include "common/model/proto/history.pb.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/namespace.pb.h"
#include "common/model/proto/operator.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/quota.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/model/proto/registry.pb.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/proto/rights.pb.h"
#include "common/model/proto/slow_log.pb.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/proto/snapshot_transfer.pb.h"
#include "common/model/proto/store_file_tracker.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/model/proto/why.pb.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/client_meta_service.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/hbck_service.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/methods/region_server_status_service.h"

namespace ratchet::chaos {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;

constexpr std::string_view kSuffix = "Request";
constexpr std::string_view kLeftOut[] = {"CloseConnections",
                                         "StopMaster",
                                         "Shutdown",
                                         "StopServer",
                                         "Pause",
                                         "Resume",
                                         "Lock",
                                         "RequestLock",
                                         "Unlock",
                                         "Drain",
                                         "StopCluster",
                                         "GiveUpRegion",
                                         "TruncateRegion",
                                         "CompactionSwitch",
                                         "SetBalancerRunning",
                                         "SetSplitOrMergeEnabled",
                                         "SetNormalizerRunning",
                                         "EnableCatalogJanitor",
                                         "SetCleanerChoreRunning",
                                         "SwitchSnapshotCleanup",
                                         "ReplicationPeerModificationSwitch",
                                         "DecommissionRegionServers",
                                         "SetQuota",
                                         "SwitchRpcThrottle",
                                         "SwitchExceedThrottleQuota"};

// Uses one message of each file, so that the linker keeps all of them.
std::vector<const FileDescriptor*> Files() {
  return {hbase::pb::GetServerInfoRequest::descriptor()->file(),
          hbase::pb::GetRequest::descriptor()->file(),
          hbase::pb::BypassProcedureRequest::descriptor()->file(),
          hbase::pb::MoveRegionRequest::descriptor()->file(),
          hbase::pb::GetNamespaceDescriptorRequest::descriptor()->file(),
          hbase::pb::IsNormalizerEnabledRequest::descriptor()->file(),
          hbase::pb::RegionServerStartupRequest::descriptor()->file(),
          hbase::pb::GetClusterIdRequest::descriptor()->file(),
          hbase::pb::LockHeartbeatRequest::descriptor()->file(),
          pb::IssueTokenRequest::descriptor()->file(),
          pb::WhoAmIRequest::descriptor()->file(),
          pb::ListConnectionsRequest::descriptor()->file(),
          pb::ProcedureVerbRequest::descriptor()->file(),
          pb::GetStatusRequest::descriptor()->file(),
          pb::WhyRequest::descriptor()->file(),
          hbase::pb::DecommissionRegionServersRequest::descriptor()->file(),
          hbase::pb::SnapshotRequest::descriptor()->file(),
          hbase::pb::AddReplicationPeerRequest::descriptor()->file(),
          hbase::pb::ModifyTableStoreFileTrackerRequest::descriptor()->file(),
          hbase::pb::SetQuotaRequest::descriptor()->file(),
          pb::ListHistoryRequest::descriptor()->file(),
          pb::DrainRequest::descriptor()->file(),
          pb::PlanBalanceRequest::descriptor()->file(),
          pb::ExportSnapshotRequest::descriptor()->file(),
          hbase::pb::GrantRequest::descriptor()->file(),
          pb::ListRightsRequest::descriptor()->file()};
}

std::string LowerFirst(std::string name) {
  name.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(name.front())));
  return name;
}

std::vector<HostileMethod> MakeMethods() {
  std::vector<HostileMethod> methods;
  for (const FileDescriptor* file : Files()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      const Descriptor* type = file->message_type(i);
      std::string name = type->name();
      if (name.size() <= kSuffix.size() || !std::string_view(name).ends_with(kSuffix)) continue;
      name.resize(name.size() - kSuffix.size());
      if (IsLeftOut(name)) continue;
      // some of HBase's method names begin with a lower-case letter: getProcedureResult
      methods.push_back({LowerFirst(name), type});
      methods.push_back({std::move(name), type});
    }
  }
  // Methods whose name differs from that of their message.
  methods.push_back({"IsMasterInMaintenanceMode", hbase::pb::IsInMaintenanceModeRequest::descriptor()});
  methods.push_back({"getSecurityCapabilities", hbase::pb::SecurityCapabilitiesRequest::descriptor()});
  methods.push_back({"SplitRegion", hbase::pb::SplitTableRegionRequest::descriptor()});
  methods.push_back({"getLastMajorCompactionTimestamp", hbase::pb::MajorCompactionTimestampRequest::descriptor()});
  methods.push_back(
      {"getLastMajorCompactionTimestampForRegion", hbase::pb::MajorCompactionTimestampForRegionRequest::descriptor()});
  methods.push_back({"ExecService", hbase::pb::CoprocessorServiceRequest::descriptor()});
  methods.push_back({"ExecProcedureWithRet", hbase::pb::ExecProcedureRequest::descriptor()});
  methods.push_back({"GetLogEntries", hbase::pb::LogRequest::descriptor()});
  methods.push_back({"IsReplicationPeerEnabled", hbase::pb::GetReplicationPeerStateRequest::descriptor()});
  return methods;
}

}  // namespace

const std::vector<std::string>& HostileServices() {
  static const std::vector<std::string> services = [] {
    std::vector<std::string> names;
    for (const std::string_view name : {methods::kMasterService, methods::kHbckService, methods::kLockService,
                                        methods::kRatchetService, methods::kClientService, methods::kAdminService,
                                        methods::kClientMetaService, methods::kRegionServerStatusService}) {
      names.emplace_back(name);
    }
    return names;
  }();
  return services;
}

const std::vector<HostileMethod>& HostileMethods() {
  static const std::vector<HostileMethod> methods = MakeMethods();
  return methods;
}

bool IsLeftOut(std::string_view method) {
  return std::find(std::begin(kLeftOut), std::end(kLeftOut), method) != std::end(kLeftOut);
}

}  // namespace ratchet::chaos
