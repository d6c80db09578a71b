// Every setting of ratchet-master, with its default. Names, units, ranges and aliases are in master_config.cc,
// and for the parts in their own options (`Bind`).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/audit/audit_log.h"
#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/identity/certificate_callers.h"
#include "common/io/storage_watch.h"
#include "common/kerberos/kerberos_options.h"
#include "common/ops/page/page_gate.h"
#include "common/rights/users.h"
#include "common/rpc/proof_policy.h"
#include "common/tls/process_tls.h"
#include "master/dispatch/dispatch_options.h"
#include "master/history/history_book.h"
#include "master/meta/rpc_meta_table.h"
#include "master/procedures/core/master_options.h"
#include "master/process/procedure_options.h"
#include "master/process/rpc_options.h"
#include "master/process/trace_file.h"
#include "master/storage/archive_cleaner.h"
#include "master/storage/fence_command.h"
#include "master/telemetry/clock_book.h"

namespace ratchet::master {

struct MasterConfig {
  std::string root;       // the cluster's shared directory
  std::string zookeeper;  // "host:port,..."
  std::string zk_acl = "open";
  Live<bool> closes_zookeeper{false};  // as zk_acl says
  std::string zk_parent = "/hbase";
  Millis zk_session{2000};
  Millis zk_connect_timeout{30'000};
  std::string host = "127.0.0.1";  // address at which other processes reach this master
  std::string bind;                // addresses or names to listen on; empty: the addresses of `host`
  std::int64_t port = 16000;
  std::int64_t listen_port = 0;    // 0: `port`
  std::int64_t info_port = 16010;  // port of the page and the metrics; 0: any free port, -1: none
  std::string info_host = "127.0.0.1";
  std::string info_names;                               // further names for which the page answers
  Millis refused_page{10'000};                          // time for which the page of a refused master shows the cause
  std::function<std::vector<SettingRow>()> settings{};  // returns all current values
  std::function<Status()> reload{};  // reloads the settings that may change live; after an error none is changed
  std::string log_file;
  std::string log_level = "info";
  std::string storage_client;  // empty: no client that could be evicted
  FenceCommandOptions fence;
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
  bool publish_client_znodes = false;
  bool adopt_zookeeper = false;
  bool early_detection = true;
  bool silence_detection = false;  // has no effect without early_detection
  bool list_steps = false;         // print the procedures' steps and end
  bool check_root = false;         // print every check of the root and end
  std::string replay;              // check this store's records against the step tables and end
  bool json = false;

  bool start_paused = false;
  Live<Millis> remote_lock_timeout{Millis{30'000}};
  ClockLimits clocks;
  std::string oldest_server_version = "0.1";

  ProcedureOptions procedures;
  RpcOptions rpc;
  DispatchOptions dispatch;
  MetaTableOptions meta;
  ArchiveCleaner::Options cleaner;
  MasterOptions logic;
  HistoryLimits history;
  TraceFileOptions trace;
  io::StorageWatchOptions storage;  // of the procedure store
};

// Binds every member to its setting; `config` must outlive the parsing.
void BindMaster(Settings& settings, MasterConfig& config);

}  // namespace ratchet::master
