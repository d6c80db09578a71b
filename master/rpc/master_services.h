// The RPC services of a master: HBase's and RatchetService. Each Add* registers one group of methods.
//
// Methods that are not registered are refused by the RPC server with DoNotRetryIOException, which names them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/live.h"
#include "common/base/self_restart.h"
#include "common/model/server_name.h"
#include "common/rights/judge.h"
#include "common/rpc/client_versions.h"
#include "common/rpc/connection_methods.h"
#include "common/rpc/service.h"
#include "master/rpc/master_gate.h"
#include "master/telemetry/clock_book.h"
#include "master/telemetry/load_book.h"
#include "master/telemetry/past_book.h"
#include "master/telemetry/reach_book.h"
#include "master/telemetry/storage_book.h"

namespace ratchet::master {

// Dependencies of the services, except the gate. Outlives the RPC server.
struct ServiceEnv {
  MasterGate& gate;
  LoadBook& loads;
  std::string root;  // sent to region servers
  std::function<std::vector<ServerName>()> backup_masters;
  std::function<void(const std::string& why)> stop_process;  // asynchronous
  std::function<void(const std::string& why)> stop_cluster;  // also stops region servers; asynchronous
  RestartHistory past{};                                     // restarts of this master's process, for display
  bool fault_points_allowed = false;                         // in this master's process, for display
  Timers* timers = nullptr;                                  // for answers that wait for a bounded time; null: no waits
  StorageBook storage{};                                     // storage response times of region servers
  PastBook pasts{};                                          // of region servers
  // how long this master's storage has hung, from kStorageProblem on; may be empty
  std::function<std::optional<Millis>()> own_storage_hangs{};
  ClockBook clocks{};                                              // of region servers
  ClockLimits clock_limits{};                                      // S74 (clock skew limit)
  std::string oldest_server_version = "0.1";                       // minimum version for registration
  std::function<rpc::ClientVersions::Counts()> client_versions{};  // of this master's connections; may be empty
  std::function<ratchet::pb::ProcessSecurity()> security{};        // of this master's process; may be empty
  std::function<std::optional<Millis>()> zookeeper_lost{};         // how long ZooKeeper has not answered; may be empty
  std::atomic<std::int64_t> info_port{-1};                         // port of this master's page; -1: none
  // a lock of LockService is released without a heartbeat for this long
  Live<Millis> remote_lock_timeout{Millis{30'000}};
  ReachBook unreached{};  // region servers that may not register because they are unreachable
  // Checks the identity of a region server at its advertised address. Calls `done` once, on any thread. Empty: every
  // server counts as reachable.
  std::function<void(const ServerName& server, std::function<void(Status)> done)> reach{};
  // A heartbeat of `server` came on this connection (CallContext::connection). May be empty.
  std::function<void(const ServerName& server, std::uint64_t connection)> heard_from{};
  // The name that the member on this connection (CallContext::connection) has proven, S123 (only a proof makes a
  // member); nullopt: a process of a version that makes no proof. May be empty.
  std::function<std::optional<ServerName>(std::uint64_t connection)> proven_name{};
  std::function<rpc::RpcServer*()> rpc_server{};  // of this process, for its connections; empty: none
  std::function<Status()> reload{};               // reloads settings; empty: UpdateConfiguration is refused
  const rights::Judge* judge = nullptr;           // for lists that are filtered; null: every caller sees everything
};

[[nodiscard]] std::shared_ptr<rpc::Service> MakeMasterService(ServiceEnv& env);
[[nodiscard]] std::shared_ptr<rpc::Service> MakeRegionServerStatusService(ServiceEnv& env);
[[nodiscard]] std::shared_ptr<rpc::Service> MakeClientMetaService(ServiceEnv& env);
[[nodiscard]] std::shared_ptr<rpc::Service> MakeHbckService(ServiceEnv& env);
[[nodiscard]] std::shared_ptr<rpc::Service> MakeLockService(ServiceEnv& env);
[[nodiscard]] std::shared_ptr<rpc::Service> MakeMasterAdminService(ServiceEnv& env);
[[nodiscard]] std::shared_ptr<rpc::Service> MakeRatchetService(ServiceEnv& env);

// Parts of MasterService.
void AddTableMethods(rpc::Service& service, ServiceEnv& env);
void AddSnapshotMethods(rpc::Service& service, ServiceEnv& env);
void AddTableViews(rpc::Service& service, ServiceEnv& env);
void AddNamespaceViews(rpc::Service& service, ServiceEnv& env);
void AddCompactionViews(rpc::Service& service, ServiceEnv& env);
void AddPeerMethods(rpc::Service& service, ServiceEnv& env);
void AddQuotaMethods(rpc::Service& service, ServiceEnv& env);
void AddRightsMethods(rpc::Service& service, ServiceEnv& env);
void AddNamespaceMethods(rpc::Service& service, ServiceEnv& env);
void AddRegionMethods(rpc::Service& service, ServiceEnv& env);
void AddProcedureMethods(rpc::Service& service, ServiceEnv& env);
void AddNamedProcedureMethods(rpc::Service& service, ServiceEnv& env);
// RatchetService's part.
void AddReconcileMethod(rpc::Service& service, ServiceEnv& env);
void AddListMethods(rpc::Service& service, ServiceEnv& env);
void AddHistoryMethod(rpc::Service& service, ServiceEnv& env);
void AddRepairMethods(rpc::Service& service, ServiceEnv& env);
void AddServerMethods(rpc::Service& service, ServiceEnv& env);
void AddClusterMethods(rpc::Service& service, ServiceEnv& env);
void AddSwitchMethods(rpc::Service& service, ServiceEnv& env);
void AddBalanceMethod(rpc::Service& service, ServiceEnv& env);
// Part of RatchetService.
void AddDrainMethods(rpc::Service& service, ServiceEnv& env);
void AddPlanMethod(rpc::Service& service, ServiceEnv& env);
void AddCompactTable(rpc::Service& service, ServiceEnv& env);
void AddSnapshotTransferMethods(rpc::Service& service, ServiceEnv& env);
void AddOperatorMethods(rpc::Service& service, ServiceEnv& env);
void AddListRights(rpc::Service& service, ServiceEnv& env);
void AddTokenMethods(rpc::Service& service, ServiceEnv& env);

}  // namespace ratchet::master
