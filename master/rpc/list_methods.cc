// RatchetService: regions, servers and tables as lists, with their last reported sizes.
#include <algorithm>
#include <map>
#include <set>

#include "common/model/codec.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/dispatch/remote_dispatcher.h"
#include "master/rpc/master_services.h"
#include "master/rpc/problems.h"
#include "master/rpc/region_list.h"
#include "master/rpc/reply.h"
#include "master/rpc/targets.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

void FillLoad(const LoadBook& loads, const ServerName& server, rpb::ServerRow& row) {
  const auto requests = loads.RequestsOf(server);
  if (!requests.has_value()) return;
  row.set_requests_per_second(*requests);
  const LoadSum sum = loads.SumOf(server);
  row.set_store_files(sum.store_files);
  row.set_store_mib(sum.store_mib);
  row.set_memstore_mib(sum.memstore_mib);
}

Result<rpb::ListRegionsResponse> ListRegions(const ActiveParts& parts, const ServiceEnv& env,
                                             const rpb::ListRegionsRequest& request) {
  const TimePoint now = env.gate.clock().Now();
  RATCHET_ASSIGN(const ListedRegions list, ChooseRegions(parts, request));
  rpb::ListRegionsResponse response;
  if (list.total.has_value()) response.set_total(*list.total);
  for (const RegionNode& node : list.nodes) {
    auto& row = *response.add_region();
    ToProto(node.info, *row.mutable_region());
    row.set_encoded_name(node.encoded);
    row.set_state(std::string(RegionStateText(node.state)));
    if (node.location.has_value()) ToProto(*node.location, *row.mutable_server());
    row.set_open_number(node.open_number.value());
    if (node.owner.valid()) row.set_procedure(node.owner.value());
    const auto since = std::chrono::duration_cast<Millis>(now - node.last_update);
    row.set_since_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, since.count())));
    if (!node.location.has_value()) continue;
    if (const auto load = env.loads.LoadAt(node.encoded, *node.location)) {
      row.set_store_files(load->store_files);
      row.set_store_mib(load->store_mib);
      row.set_memstore_mib(load->memstore_mib);
    }
  }
  return response;
}

Result<rpb::ListServersResponse> ListServers(const ActiveParts& parts, const ServiceEnv& env,
                                             const rpb::ListServersRequest& request) {
  const auto regions = parts.logic->regions.CountByServer();
  const auto meta = parts.logic->regions.MetaLocation();
  std::map<ServerName, ServerQueueView> queues;
  for (ServerQueueView& view : parts.dispatcher->View()) queues[view.server] = std::move(view);
  const TimePoint now = env.gate.clock().Now();
  rpb::ListServersResponse response;
  for (const ServerView& server : parts.logic->servers.List()) {
    if (server.phase != ServerPhase::kOnline && !request.include_dead()) continue;
    auto& row = *response.add_server();
    ToProto(server.name, *row.mutable_server());
    row.set_state(std::string(ServerPhaseName(server.phase)));
    row.set_version(server.version);
    const auto count = regions.find(server.name);
    row.set_regions(count == regions.end() ? 0 : static_cast<std::uint32_t>(count->second));
    const auto ago = std::chrono::duration_cast<Millis>(now - server.last_heartbeat);
    row.set_last_report_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ago.count())));
    FillLoad(env.loads, server.name, row);
    row.set_carries_meta(meta == server.name);
    if (const auto note = env.pasts.Get(server.name)) {
      row.set_came_again(note->past.count);
      row.set_came_again_why(note->past.why);
      if (note->descriptors.limit > 0) {
        row.set_descriptors_used(note->descriptors.used);
        row.set_descriptor_limit(note->descriptors.limit);
      }
      if (note->info_port != 0) row.set_info_port(note->info_port);
      if (note->log_files.has_value()) row.set_log_files(*note->log_files);
      if (note->disk_free_bytes.has_value()) row.set_disk_free_bytes(*note->disk_free_bytes);
    }
    if (const auto hangs = env.storage.HangsFor(server.name, now)) {
      row.set_storage_hangs_ms(static_cast<std::uint64_t>(hangs->count()));
    }
    if (server.crash_procedure.valid()) row.set_crash_procedure(server.crash_procedure.value());
    const auto queue = queues.find(server.name);
    if (queue == queues.end()) continue;
    row.set_dispatch_queued(static_cast<std::uint32_t>(queue->second.queued));
    row.set_dispatch_attempt(queue->second.failures);
    if (!queue->second.last_error.empty()) row.set_dispatch_last_error(queue->second.last_error);
  }
  return response;
}

struct CountedRegions {
  std::uint32_t all = 0;
  std::uint32_t open = 0;
};

Result<rpb::ListTablesResponse> ListTables(const ActiveParts& parts, const rpc::CallContext& call,
                                           const ServiceEnv& env) {
  const auto online = parts.logic->servers.Online();
  const std::set<ServerName> live(online.begin(), online.end());
  std::map<TableName, CountedRegions> counts;
  parts.logic->regions.Visit([&counts, &live](const RegionNode& node) {
    CountedRegions& count = counts[node.info.table];
    ++count.all;
    if (IsServed(node, live)) ++count.open;
  });
  const auto sums = env.loads.SumsByTable();
  rpb::ListTablesResponse response;
  for (const TableNode& table : parts.logic->tables.List()) {
    if (!SeesTable(env, call, table.name)) continue;
    auto& row = *response.add_table();
    ToProto(table.name, *row.mutable_table());
    row.set_state(std::string(TableStateText(table.state)));
    const CountedRegions& count = counts[table.name];
    row.set_regions(count.all);
    row.set_regions_open(count.open);
    const auto sum = sums.find(table.name.ToString());
    if (sum == sums.end()) continue;
    row.set_store_files(sum->second.store_files);
    row.set_store_mib(sum->second.store_mib);
    row.set_memstore_mib(sum->second.memstore_mib);
  }
  return response;
}

}  // namespace

void AddListMethods(rpc::Service& service, ServiceEnv& env) {
  Answer(service, env.gate, Need::kRecovered, methods::kListRegions,
         [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/, const rpb::ListRegionsRequest& request) {
           return ListRegions(parts, env, request);
         });
  Answer(service, env.gate, Need::kRecovered, methods::kListServers,
         [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/, const rpb::ListServersRequest& request) {
           return ListServers(parts, env, request);
         });
  Answer(service, env.gate, Need::kRecovered, methods::kListTables,
         [&env](const ActiveParts& parts, const rpc::CallContext& call, const rpb::ListTablesRequest& /*request*/) {
           return ListTables(parts, call, env);
         });
}

}  // namespace ratchet::master
