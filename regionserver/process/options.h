// Every setting of ratchet-regionserver: the process's own, which options.cc binds to their names, and the options of
// its parts. Each part declares its settings in its struct: `Bind` gives each member its name, help, HBase's names and
// range.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/audit/audit_log.h"
#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/live.h"
#include "common/identity/certificate_callers.h"
#include "common/kerberos/kerberos_options.h"
#include "common/ops/page/page_gate.h"
#include "common/rights/users.h"
#include "common/rpc/proof_policy.h"
#include "common/tls/process_tls.h"
#include "regionserver/host/region_host.h"
#include "regionserver/orders/lane_pool.h"
#include "regionserver/process/heartbeat.h"
#include "regionserver/process/orderly_stop.h"
#include "regionserver/process/rpc_options.h"
#include "regionserver/process/storage_health.h"
#include "regionserver/rpc/data_service.h"
#include "regionserver/rpc/scanner_table.h"
#include "regionserver/rpc/slow_log.h"
#include "regionserver/store/block_cache.h"
#include "regionserver/store/disk_room.h"
#include "regionserver/store/memstore.h"

namespace ratchet::regionserver {

struct ServerOptions {
  std::string root;       // the cluster's shared directory
  std::string zookeeper;  // "host:port,..."
  std::string zk_parent = "/hbase";
  Millis zk_session{2000};
  Millis zk_connect_timeout{30'000};
  std::string host = "127.0.0.1";  // where clients and the master reach this server
  std::string bind;                // addresses or names to listen on; empty: those of `host`
  std::int64_t port = 16020;
  std::int64_t listen_port = 0;    // 0: the same as `port`
  std::int64_t info_port = 16030;  // of the page and of metrics; 0: any free port, -1: none
  std::string info_host = "127.0.0.1";
  std::string info_names;                               // further names for which the page answers
  std::function<std::vector<SettingRow>()> settings{};  // all settings in force
  std::function<Status()> reload{};  // re-reads the settings that may change live; an error changes none
  std::string log_file;
  std::string log_level = "info";
  std::string storage_client;  // empty: no client that could be evicted
  std::string storage_proof = "detect";
  std::string member_proof = "auto";
  Live<rpc::ProofPolicy> proof_policy{rpc::ProofPolicy::kByKey};  // as member_proof says
  tls::TlsOptions tls;
  identity::IdentityOptions identity;
  kerberos::KerberosOptions kerberos;
  audit::AuditOptions audit;
  rights::RightsOptions rights;
  page::PageAccess page_access;
  bool start_again = true;
  bool allow_fault_points = false;

  Millis start_timeout{
      60'000};  // for cluster.id and cluster.key to appear; the wait for the master itself has no limit

  HeartbeatOptions heartbeat;
  StorageHealthOptions storage;
  RpcOptions listen;
  LaneThreads lanes;
  HostOptions regions;
  MemstoreLimits memstores;
  DiskRoomOptions disk_room;
  BlockCacheOptions block_cache;
  ScannerTableOptions scanners;
  DataServiceOptions data;
  SlowLogOptions slow_log;
  OrderlyStopOptions stop;
};

// Binds every member to its setting. `options` must outlive the parsing; in a program with reloads, the program.
void BindOptions(Settings& settings, ServerOptions& options);

}  // namespace ratchet::regionserver
