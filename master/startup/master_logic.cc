#include "master/startup/master_logic.h"

#include <utility>

namespace ratchet::master {

MasterLogic::MasterLogic(const Deps& deps, const MasterOptions& with, std::function<void(ActivationStep)> on_step)
    : options(with),
      regions(deps.clock),
      servers(deps.clock),
      registrations(deps.clock, servers),
      server_manager(servers, registrations),
      split_workers(options.splits_per_server),
      undo_writes(deps.meta),
      namespaces(tables, regions),
      env{.meta = deps.meta,
          .region_servers = deps.region_servers,
          .files = deps.files,
          .live_servers = deps.live_servers,
          .clock = deps.clock,
          .regions = regions,
          .servers = servers,
          .registrations = registrations,
          .decommissions = decommissions,
          .tables = tables,
          .placement = placement,
          .split_workers = split_workers,
          .undo_writes = undo_writes,
          .creations = creations,
          .snapshots = snapshots,
          .namespaces = namespaces,
          .peers = peers,
          .rights = rights,
          .switches = switches,
          .options = options},
      activation(env, server_manager, deps.timers, std::move(on_step)),
      admin(env),
      snapshot_admin(env),
      reports(env),
      reconciler(env, server_manager, options.reconciler),
      drainer(env),
      server_admin(env),
      namespace_admin(env),
      peer_admin(env),
      rights_admin(env),
      switch_admin(env),
      replication_manager(env),
      namespace_table(env),
      quota_manager(env),
      auto_splitter(env, admin, options.auto_split),
      balancer(env, admin, region_rates, options.balancer),
      normalizer(env, admin, region_sizes, options.normalizer) {}

void MasterLogic::Attach(procedure::Executor& executor) {
  env.executor = &executor;
  const auto wake = [&executor](const procedure::EventKey& event) { executor.Wake(event); };
  servers.Attach(wake);
  decommissions.Attach(wake);
  namespaces.Attach([&executor](ProcId pid) {
    const auto info = executor.Get(pid);
    return info && !procedure::IsTerminal(info->state);
  });
  server_manager.Attach(&executor);
}

}  // namespace ratchet::master
