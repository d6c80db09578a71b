#include "master/procedures/assignment/assign_regions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/model/descriptor_size.h"
#include "master/cluster/membership.h"
#include "master/cluster/table_directory.h"
#include "master/policy/placement.h"
#include "master/procedures/assignment/assign_batch.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/region_plan.h"

namespace ratchet::master {
namespace {

std::size_t LeastInBatch(const MasterEnv& env) {
  return static_cast<std::size_t>(std::max<std::int64_t>(env.options.batch_least.Get(), 2));
}

// Bytes of one region of the table in an order, without its keys; nullopt: the table's regions are in no batch. Regions
// of system tables are placed by the versions of servers, and are few.
std::optional<std::size_t> BytesInOrder(const MasterEnv& env, const TableName& name) {
  constexpr std::size_t kOfRegion = 256;
  const auto table = env.tables.Get(name);
  if (name.IsSystem() || !table || table->schema == nullptr) return std::nullopt;
  const std::size_t bytes = kOfRegion + RoughSize(*table->schema);
  return bytes <= env.options.batch_bytes / LeastInBatch(env) ? std::optional<std::size_t>(bytes) : std::nullopt;
}

// Takes the regions in the order of servers, and collects those of one server into batches.
class Batches {
 public:
  Batches(MasterEnv& env, bool retain) : env_(env), retain_(retain) {}

  void Add(const RegionNode& node, std::size_t bytes, const ServerName& server) {
    Group& group = groups_[server];
    const bool full = group.regions.size() >= static_cast<std::size_t>(env_.options.batch_most.Get());
    if (full || group.bytes + bytes > env_.options.batch_bytes) Close(server, group);
    group.regions.push_back(node);
    group.bytes += bytes;
  }
  void AddSingle(const RegionInfo& region) {
    TransitRegionState::Options options;
    options.retain = retain_;
    assigns_.push_back(TransitRegionState::Assign(region, options));
  }
  std::vector<ProcedurePtr> Procedures() && {
    for (auto& [server, group] : groups_) Close(server, group);
    return std::move(assigns_);
  }

 private:
  struct Group {
    std::vector<RegionNode> regions;
    std::size_t bytes = 0;
  };
  void Close(const ServerName& server, Group& group) {
    if (group.regions.size() >= LeastInBatch(env_)) {
      assigns_.push_back(AssignBatch::Make(server, group.regions, retain_));
    } else {
      for (const RegionNode& node : group.regions) AddSingle(node.info);
    }
    group = {};
  }

  MasterEnv& env_;
  const bool retain_;
  std::map<ServerName, Group> groups_;
  std::vector<ProcedurePtr> assigns_;
};

}  // namespace

std::vector<ProcedurePtr> AssignAll(MasterEnv& env, const std::vector<RegionNode>& regions, bool retain) {
  Batches batches(env, retain);
  const bool many = regions.size() >= LeastInBatch(env) && env.options.batch_most.Get() > 1;
  const ServerNames servers = env.placement.assignable().Get(env.servers, env.decommissions);
  const Placement::LoadOf loads = LoadsOf(env);
  std::map<TableName, std::optional<std::size_t>> bytes;
  for (const RegionNode& node : regions) {
    const auto table = bytes.try_emplace(node.info.table);
    if (table.second && many) table.first->second = BytesInOrder(env, node.info.table);
    std::optional<ServerName> server;
    // S172 (one number for a batch): a write that was started and is not known to be in the row proves nothing.
    const bool settled = !node.owner.valid() && node.reserved == node.transition;
    if (table.first->second && settled) {
      PlacementRequest request;
      request.encoded = node.encoded;
      request.table = node.info.table.ToString();
      request.last_host = node.last_host;
      request.retain = retain;
      server = env.placement.Choose(request, *servers, loads);
    }
    if (server) {
      const std::size_t keys = node.info.start_key.size() + node.info.end_key.size();
      batches.Add(node, *table.first->second + keys, *server);
    } else {
      batches.AddSingle(node.info);
    }
  }
  return std::move(batches).Procedures();
}

}  // namespace ratchet::master
