#include "master/rpc/cluster_status.h"

#include <map>
#include <utility>
#include <vector>

#include "common/model/codec.h"
#include "master/rpc/replication_load.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// HBase's clients parse the version and enable features by it; this is the HBase version that Ratchet implements.
constexpr const char* kHBaseVersion = "2.6.0";

void AddLiveServers(const ActiveParts& parts, const ServiceEnv& env, pb::ClusterStatus& out) {
  std::map<ServerName, std::vector<pb::ReplicationProgress>> shipping;
  for (auto& [server, progress] : parts.logic->peers.Progress()) shipping[server].push_back(std::move(progress));
  const std::int64_t now_ms = env.gate.clock().WallMillis();
  for (const ServerName& server : parts.logic->servers.Online()) {
    auto& live = *out.add_live_servers();
    ToProto(server, *live.mutable_server());
    auto load = env.loads.Get(server);
    *live.mutable_server_load() = load.has_value() ? std::move(*load) : pb::ServerLoad{};
    AddReplicationLoad(server, shipping[server], now_ms, *live.mutable_server_load());
  }
}

void AddRegionsInTransition(const ActiveParts& parts, pb::ClusterStatus& out) {
  for (const RegionNode& node : parts.logic->regions.InTransition()) {
    auto& region = *out.add_regions_in_transition();
    SpecifyRegion(node.info, *region.mutable_spec());
    auto& state = *region.mutable_region_state();
    ToProto(node.info, *state.mutable_region_info());
    state.set_state(static_cast<pb::RegionState::State>(node.state));
  }
}

struct Counts {
  std::uint32_t open = 0, split = 0, closed = 0, in_transition = 0, total = 0;
};

void AddRegionCounts(const ActiveParts& parts, pb::ClusterStatus& out) {
  std::map<TableName, Counts> tables;
  parts.logic->regions.Visit([&tables](const RegionNode& node) {
    Counts& counts = tables[node.info.table];
    ++counts.total;
    if (node.state == RegionState::kOpen) ++counts.open;
    if (node.state == RegionState::kSplit) ++counts.split;
    if (node.state == RegionState::kClosed) ++counts.closed;
    if (node.owner.valid()) ++counts.in_transition;
  });
  for (const auto& [table, counts] : tables) {
    auto& entry = *out.add_table_region_states_count();
    ToProto(table, *entry.mutable_table_name());
    auto& count = *entry.mutable_region_states_count();
    count.set_open_regions(counts.open);
    count.set_split_regions(counts.split);
    count.set_closed_regions(counts.closed);
    count.set_regions_in_transition(counts.in_transition);
    count.set_total_regions(counts.total);
  }
}

void AddTasks(const ServiceEnv& env, pb::ClusterStatus& out) {
  for (const ActivationStepView& step : env.gate.steps()) {
    auto& task = *out.add_master_tasks();
    task.set_description("activation: " + step.name);
    task.set_status(step.detail);
    task.set_state(step.took.has_value() ? pb::ServerTask::COMPLETE : pb::ServerTask::RUNNING);
    const auto started = static_cast<std::uint64_t>(env.gate.active_since_ms() + step.started.count());
    task.set_starttime(started);
    if (step.took.has_value()) task.set_completiontime(started + static_cast<std::uint64_t>(step.took->count()));
  }
}

}  // namespace

pb::ClusterStatus MakeClusterStatus(const ActiveParts& parts, const ServiceEnv& env, const std::set<int>& options) {
  const auto wanted = [&options](pb::Option option) { return options.empty() || options.contains(option); };
  pb::ClusterStatus out;
  if (wanted(pb::HBASE_VERSION)) out.mutable_hbase_version()->set_version(kHBaseVersion);
  if (wanted(pb::CLUSTER_ID)) out.mutable_cluster_id()->set_cluster_id(env.gate.cluster_id());
  if (wanted(pb::LIVE_SERVERS)) AddLiveServers(parts, env, out);
  if (wanted(pb::DEAD_SERVERS)) {
    for (const ServerView& server : parts.logic->servers.List()) {
      if (server.phase != ServerPhase::kOnline) ToProto(server.name, *out.add_dead_servers());
    }
  }
  if (wanted(pb::MASTER)) ToProto(env.gate.self(), *out.mutable_master());
  if (wanted(pb::BACKUP_MASTERS)) {
    for (const ServerName& master : env.backup_masters()) ToProto(master, *out.add_backup_masters());
  }
  if (wanted(pb::REGIONS_IN_TRANSITION)) AddRegionsInTransition(parts, out);
  if (wanted(pb::BALANCER_ON)) out.set_balancer_on(parts.logic->switches.IsOn(Switch::kBalancer));
  if (wanted(pb::MASTER_INFO_PORT)) out.set_master_info_port(static_cast<std::int32_t>(env.info_port.load()));
  if (wanted(pb::SERVERS_NAME)) {
    for (const ServerName& server : parts.logic->servers.Online()) ToProto(server, *out.add_servers_name());
  }
  if (wanted(pb::TABLE_TO_REGIONS_COUNT)) AddRegionCounts(parts, out);
  if (wanted(pb::TASKS)) AddTasks(env, out);
  return out;
}

}  // namespace ratchet::master
