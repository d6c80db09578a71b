// The services of a master, under HBase's names, and our own. Each Add* registers one group of methods.
//
// Methods that are not registered are refused by the RPC server with DoNotRetryIOException, which names them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/live.h"
#include "common/base/start_again.h"
#include "common/model/server_name.h"
#include "common/rpc/service.h"
#include "master/service/clock_book.h"
#include "master/service/load_book.h"
#include "master/service/master_gate.h"
#include "master/service/past_book.h"
#include "master/service/storage_book.h"

namespace ratchet::master {

// What services need besides the gate. Outlives the RPC server.
struct ServiceEnv {
  MasterGate& gate;
  LoadBook& loads;
  std::string root;  // told to region servers
  std::function<std::vector<ServerName>()> backup_masters;
  std::function<void(const std::string& why)> stop_process;  // asynchronous
  std::function<void(const std::string& why)> stop_cluster;  // region servers too; asynchronous
  PastLives past{};                                          // of this master's process, shown
  bool fault_points_allowed = false;                         // in this master's process, shown
  Timers* timers = nullptr;  // for answers that wait for a bounded time; null: they do not wait
  StorageBook storage{};     // how the storage answers region servers
  PastBook pasts{};          // of region servers
  std::function<std::optional<Millis>()> own_storage_hangs{};  // of this master, from kStorageProblem on; may be empty
  ClockBook clocks{};                                          // of region servers
  ClockLimits clock_limits{};                                  // S74
  std::string oldest_server_version = "0.1";                   // that may register
  std::function<std::optional<Millis>()> zookeeper_lost{};     // how long ZooKeeper has not answered; may be empty
  std::atomic<std::int64_t> info_port{-1};                     // where this master's page is; -1: nowhere
  Live<Millis> remote_lock_timeout{Millis{30'000}};  // a lock of LockService goes when no heartbeat came for this long
  std::function<Status()> reload{};                  // settings that change live; empty: UpdateConfiguration is refused
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
void AddNamespaceMethods(rpc::Service& service, ServiceEnv& env);
void AddRegionMethods(rpc::Service& service, ServiceEnv& env);
void AddProcedureMethods(rpc::Service& service, ServiceEnv& env);
void AddNamedProcedureMethods(rpc::Service& service, ServiceEnv& env);
// RatchetService's part.
void AddReconcileMethod(rpc::Service& service, ServiceEnv& env);
void AddListMethods(rpc::Service& service, ServiceEnv& env);
void AddHistoryMethod(rpc::Service& service, ServiceEnv& env);
void AddMendMethods(rpc::Service& service, ServiceEnv& env);
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

}  // namespace ratchet::master
