#include "master/startup/master_logic.h"

#include <utility>

namespace ratchet::master {

MasterLogic::MasterLogic(Deps deps, MasterOptions options, std::function<void(ActivationStep)> on_step)
    : options_(options),
      regions_(deps.clock),
      servers_(deps.clock),
      server_manager_(servers_),
      split_workers_(options_.splits_per_server),
      undo_writes_(deps.meta),
      namespaces_(tables_, regions_),
      env_{deps.meta,
           deps.region_servers,
           deps.files,
           deps.live_servers,
           deps.clock,
           regions_,
           servers_,
           tables_,
           placement_,
           split_workers_,
           undo_writes_,
           snapshots_,
           namespaces_,
           peers_,
           switches_,
           options_,
           nullptr,
           false,
           {},
           {},
           {}},
      activation_(env_, server_manager_, deps.timers, std::move(on_step)),
      admin_(env_),
      snapshot_admin_(env_),
      reports_(env_),
      reconciler_(env_, server_manager_, options_.reconciler),
      drainer_(env_),
      server_admin_(env_),
      namespace_admin_(env_),
      peer_admin_(env_),
      replication_manager_(env_),
      namespace_table_(env_),
      quota_manager_(env_),
      switch_admin_(env_),
      auto_splitter_(env_, admin_, options_.auto_split),
      balancer_(env_, admin_, region_rates_, options_.balancer),
      normalizer_(env_, admin_, region_sizes_, options_.normalizer) {}

void MasterLogic::Attach(procedure::Executor& executor) {
  env_.executor = &executor;
  servers_.Attach(&executor);
  server_manager_.Attach(&executor);
}

}  // namespace ratchet::master
