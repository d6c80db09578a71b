// MasterLogic: all parts of one active master's logic. The shell builds it when elected, destroys it when deposed.
//
//   MasterLogic logic({meta, region_servers, files, live_servers, clock, timers}, options);
//   ProcedureRegistry registry; RegisterMasterProcedures(registry);
//   Executor executor({store, registry, workers, clock, timers, logic.env_ref()}, executor_options);
//   logic.Attach(executor);
//   logic.activation().RunUntilWorkersStarted(); logic.activation().LoadMeta(...);
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
#include "master/cluster/namespace_directory.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/server_directory.h"
#include "master/cluster/snapshot_book.h"
#include "master/cluster/split_workers.h"
#include "master/cluster/switches.h"
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

class MasterLogic {
 public:
  struct Deps {
    MetaTable& meta;
    RegionServers& region_servers;
    ClusterFiles& files;
    LiveServers& live_servers;
    const Clock& clock;
    Timers& timers;
  };
  MasterLogic(Deps deps, MasterOptions options, std::function<void(ActivationStep)> on_step = {});
  MasterLogic(const MasterLogic&) = delete;
  MasterLogic& operator=(const MasterLogic&) = delete;

  [[nodiscard]] procedure::EnvRef env_ref() { return procedure::EnvRef::Of(env_); }
  void Attach(procedure::Executor& executor);

  [[nodiscard]] Activation& activation() { return activation_; }
  [[nodiscard]] TableAdmin& admin() { return admin_; }
  [[nodiscard]] SnapshotAdmin& snapshot_admin() { return snapshot_admin_; }
  [[nodiscard]] ReportHandler& reports() { return reports_; }
  [[nodiscard]] ServerDirectory& servers() { return servers_; }
  [[nodiscard]] ServerManager& server_manager() { return server_manager_; }
  [[nodiscard]] RegionDirectory& regions() { return regions_; }
  [[nodiscard]] TableDirectory& tables() { return tables_; }
  [[nodiscard]] Reconciler& reconciler() { return reconciler_; }
  [[nodiscard]] ServerAdmin& server_admin() { return server_admin_; }
  [[nodiscard]] NamespaceAdmin& namespace_admin() { return namespace_admin_; }
  [[nodiscard]] ReplicationManager& replication_manager() { return replication_manager_; }
  [[nodiscard]] NamespaceTable& namespace_table() { return namespace_table_; }
  [[nodiscard]] QuotaManager& quota_manager() { return quota_manager_; }
  [[nodiscard]] PeerAdmin& peer_admin() { return peer_admin_; }
  [[nodiscard]] PeerDirectory& peers() { return peers_; }
  [[nodiscard]] SwitchAdmin& switch_admin() { return switch_admin_; }
  [[nodiscard]] const NamespaceDirectory& namespaces() const { return namespaces_; }
  [[nodiscard]] const Switches& switches() const { return switches_; }
  [[nodiscard]] AutoSplitter& auto_splitter() { return auto_splitter_; }
  [[nodiscard]] Normalizer& normalizer() { return normalizer_; }
  [[nodiscard]] RegionSizes& region_sizes() { return region_sizes_; }
  [[nodiscard]] RegionRates& region_rates() { return region_rates_; }
  [[nodiscard]] Balancer& balancer() { return balancer_; }
  [[nodiscard]] ServerDrainer& drainer() { return drainer_; }
  // True when requests may be admitted, because hbase:meta is loaded.
  [[nodiscard]] bool ready() const { return env_.meta_loaded.load(); }
  [[nodiscard]] MasterEnv& env() { return env_; }

 private:
  const MasterOptions options_;
  RegionDirectory regions_;
  ServerDirectory servers_;
  ServerManager server_manager_;
  TableDirectory tables_;
  Placement placement_;
  SplitWorkers split_workers_;
  UndoWrites undo_writes_;
  SnapshotBook snapshots_;
  NamespaceDirectory namespaces_;
  PeerDirectory peers_;
  Switches switches_;
  RegionSizes region_sizes_;
  RegionRates region_rates_;
  MasterEnv env_;
  Activation activation_;
  TableAdmin admin_;
  SnapshotAdmin snapshot_admin_;
  ReportHandler reports_;
  Reconciler reconciler_;
  ServerDrainer drainer_;
  ServerAdmin server_admin_;
  NamespaceAdmin namespace_admin_;
  PeerAdmin peer_admin_;
  ReplicationManager replication_manager_;
  NamespaceTable namespace_table_;
  QuotaManager quota_manager_;
  SwitchAdmin switch_admin_;
  AutoSplitter auto_splitter_;
  Balancer balancer_;
  Normalizer normalizer_;
};

}  // namespace ratchet::master
