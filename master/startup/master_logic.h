// MasterLogic: all parts of one active master's logic. The shell builds it when elected, destroys it when deposed.
//
//   MasterLogic logic({.meta = meta, ...}, options);
//   ProcedureRegistry registry; RegisterMasterProcedures(registry);
//   Executor executor({store, registry, workers, clock, timers, logic.env_ref()}, executor_options);
//   logic.Attach(executor);
//   logic.activation.RunUntilWorkersStarted(); logic.activation.LoadMeta(...);
//
// Must outlive the executor's Stop. Thread-safe after Attach, apart from Activation.
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "master/chores/auto_splitter.h"
#include "master/chores/balancer.h"
#include "master/chores/namespace_table.h"
#include "master/chores/normalizer.h"
#include "master/chores/quota_manager.h"
#include "master/chores/replication_manager.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/membership.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/registrations.h"
#include "master/cluster/rights_book.h"
#include "master/cluster/server_share.h"
#include "master/cluster/snapshot_book.h"
#include "master/cluster/split_workers.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_creations.h"
#include "master/cluster/table_directory.h"
#include "master/cluster/undo_writes.h"
#include "master/env/cluster_files.h"
#include "master/env/live_servers.h"
#include "master/env/meta_table.h"
#include "master/env/region_servers.h"
#include "master/policy/placement.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/register.h"
#include "master/repair/reconciler.h"
#include "master/requests/namespace_admin.h"
#include "master/requests/peer_admin.h"
#include "master/requests/report_handler.h"
#include "master/requests/rights_admin.h"
#include "master/requests/server_admin.h"
#include "master/requests/server_drainer.h"
#include "master/requests/server_manager.h"
#include "master/requests/snapshot_admin.h"
#include "master/requests/switch_admin.h"
#include "master/requests/table_admin.h"
#include "master/startup/activation.h"
#include "master/telemetry/region_rates.h"
#include "master/telemetry/region_sizes.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure.h"

namespace ratchet::master {

// The parts are declared in the order of their dependencies, and destroyed in reverse.
struct MasterLogic {
  struct Deps {
    MetaTable& meta;
    RegionServers& region_servers;
    ClusterFiles& files;
    LiveServers& live_servers;
    const Clock& clock;
    Timers& timers;
  };
  MasterLogic(const Deps& deps, const MasterOptions& with, std::function<void(ActivationStep)> on_step = {});
  MasterLogic(const MasterLogic&) = delete;
  MasterLogic& operator=(const MasterLogic&) = delete;

  [[nodiscard]] procedure::EnvRef env_ref() { return procedure::EnvRef::Of(env); }
  void Attach(procedure::Executor& executor);
  // True when requests may be admitted, because hbase:meta is loaded.
  [[nodiscard]] bool ready() const { return env.meta_loaded.load(); }

  const MasterOptions options;

  // State in memory (master/cluster), plans and reports.
  RegionDirectory regions;
  Membership servers;
  Registrations registrations;
  Decommissions decommissions;
  ServerManager server_manager;
  TableDirectory tables;
  Placement placement;
  SplitWorkers split_workers;
  UndoWrites undo_writes;
  TableCreations creations;
  SnapshotBook snapshots;
  NamespaceDirectory namespaces;
  PeerDirectory peers;
  RightsBook rights;
  Switches switches;
  RegionSizes region_sizes;
  RegionRates region_rates;
  ServerShare load_share{kLoadsASecond};

  MasterEnv env;  // for steps: the state, and the interfaces to the outside
  Activation activation;

  // Requests (master/requests) and repairs (master/repair).
  TableAdmin admin;
  SnapshotAdmin snapshot_admin;
  ReportHandler reports;
  Reconciler reconciler;
  ServerDrainer drainer;
  ServerAdmin server_admin;
  NamespaceAdmin namespace_admin;
  PeerAdmin peer_admin;
  RightsAdmin rights_admin;
  SwitchAdmin switch_admin;

  // Periodic work (master/chores).
  ReplicationManager replication_manager;
  NamespaceTable namespace_table;
  QuotaManager quota_manager;
  AutoSplitter auto_splitter;
  Balancer balancer;
  Normalizer normalizer;
};

}  // namespace ratchet::master
