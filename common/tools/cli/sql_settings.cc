#include "common/tools/cli/sql_settings.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/client/drain.h"
#include "common/client/namespaces.h"
#include "common/client/peers.h"
#include "common/client/snapshots.h"
#include "common/client/table.h"
#include "common/model/codec.h"
#include "common/model/proto/quota.pb.h"
#include "common/model/replication_peer.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::cli {
namespace settings {
namespace {

using sql::SqlSink;
using sql::SqlTable;
using sql::SqlValue;

constexpr auto kInteger = sql::SqlType::kInteger;
constexpr auto kText = sql::SqlType::kText;

SqlValue LimitOf(const std::optional<std::uint64_t>& limit) { return limit ? WholeOf(*limit) : SqlValue(); }

Status Peers(Session& session, const SqlSink& sink) {
  RATCHET_ASSIGN(const auto peers, client::ListPeers(session.admin));
  RATCHET_ASSIGN(const auto progress, client::ReplicationProgress(session.admin, ""));
  for (const auto& peer : peers) {
    std::uint64_t lag = 0;
    std::uint64_t logs = 0;
    std::string error;
    for (const auto& source : progress.source()) {
      if (source.progress().peer() != peer.id()) continue;
      lag = std::max(lag, source.progress().lag_ms());
      logs += source.progress().logs();
      if (error.empty()) error = TroubleOf(source.progress());
    }
    sink({peer.id(), peer.config().clusterkey(), Flag(IsEnabled(peer.state())), Flag(peer.config().serial()),
          WholeOf(lag), WholeOf(logs), TextOf(error)});
  }
  return Ok();
}

Status Replication(Session& session, const SqlSink& sink) {
  RATCHET_ASSIGN(const auto progress, client::ReplicationProgress(session.admin, ""));
  for (const auto& source : progress.source()) {
    const auto teller = FromProto(source.teller());
    const auto& each = source.progress();
    sink({TextOf(each.peer()), teller.ok() ? SqlValue(teller->ToString()) : SqlValue(), each.server(),
          WholeOf(each.lag_ms()), WholeOf(each.logs()), WholeOf(each.shipped()), TextOf(TroubleOf(each))});
  }
  return Ok();
}

Status SnapshotRows(Session& session, const SqlSink& sink) {
  client::Snapshots snapshots(session.connection, session.timeout);
  RATCHET_ASSIGN(const auto all, snapshots.List());
  for (const auto& each : all) {
    sink({each.name(), each.table(), hbase::pb::SnapshotDescription::Type_Name(each.type()), each.creation_time(),
          TextOf(each.owner()), WholeOf(each.regions()), WholeOf(each.files()), WholeOf(each.bytes()),
          each.ttl() > 0 ? SqlValue(each.ttl()) : SqlValue()});
  }
  return Ok();
}

Status Namespaces(Session& session, const SqlSink& sink) {
  RATCHET_ASSIGN(const auto all, client::ListNamespaces(session.admin));
  for (const auto& each : all) sink({each.name, LimitOf(each.max_tables()), LimitOf(each.max_regions())});
  return Ok();
}

struct LimitName {
  const char* name;
  bool (hbase::pb::Throttle::*has)() const;
  const hbase::pb::TimedQuota& (hbase::pb::Throttle::*get)() const;
};
using hbase::pb::Throttle;
constexpr std::array kLimits{
    LimitName{"requests", &Throttle::has_req_num, &Throttle::req_num},
    LimitName{"request bytes", &Throttle::has_req_size, &Throttle::req_size},
    LimitName{"writes", &Throttle::has_write_num, &Throttle::write_num},
    LimitName{"write bytes", &Throttle::has_write_size, &Throttle::write_size},
    LimitName{"reads", &Throttle::has_read_num, &Throttle::read_num},
    LimitName{"read bytes", &Throttle::has_read_size, &Throttle::read_size},
    LimitName{"request capacity units", &Throttle::has_req_capacity_unit, &Throttle::req_capacity_unit},
    LimitName{"write capacity units", &Throttle::has_write_capacity_unit, &Throttle::write_capacity_unit},
    LimitName{"read capacity units", &Throttle::has_read_capacity_unit, &Throttle::read_capacity_unit}};

// "u.ann" -> "user ann". The row's form is HBase's (master/cluster/quota_rows.h).
std::string SubjectOf(const std::string& row) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kKinds{
      {{"u.", "user "}, {"t.", "table "}, {"n.", "namespace "}, {"r.", "region servers "}}};
  for (const auto& [start, kind] : kKinds) {
    if (row.starts_with(start)) return std::string(kind) + row.substr(start.size());
  }
  return row;
}

// Adds one row for each limit; skips cells that are not of a quota.
void SinkQuota(const std::string& row, const Cell& cell, const SqlSink& sink) {
  constexpr std::string_view kMagic = "PBUF";
  const std::string value(cell.value);
  const std::string qualifier(cell.qualifier);
  hbase::pb::Quotas quotas;
  if (!value.starts_with(kMagic) || !quotas.ParseFromString(value.substr(kMagic.size()))) return;
  const SqlValue in = qualifier.starts_with("s.") ? SqlValue(qualifier.substr(2)) : SqlValue();
  if (quotas.bypass_globals()) sink({SubjectOf(row), in, "none: bypasses all other limits", {}, {}, {}});
  for (const LimitName& limit : kLimits) {
    if (!(quotas.throttle().*limit.has)()) continue;
    const hbase::pb::TimedQuota& quota = (quotas.throttle().*limit.get)();
    sink({SubjectOf(row), in, limit.name, WholeOf(quota.soft_limit()), hbase::pb::TimeUnit_Name(quota.time_unit()),
          hbase::pb::QuotaScope_Name(quota.scope())});
  }
}

Status Quotas(Session& session, const SqlSink& sink) {
  client::Table table(session.connection, TableName(std::string(kSystemNamespace), "quota"), session.timeout);
  client::Scanner scanner = table.Scan({});
  while (true) {
    const auto row = scanner.Next();
    // The table is made with the first quota.
    if (!row.ok() && rpc::IsClass(row.error(), rpc::exception::kTableNotFound)) return Ok();
    if (!row.ok()) return row.error();
    if (!row->has_value()) return Ok();
    for (const Cell& cell : (*row)->cells) SinkQuota((*row)->key, cell, sink);
  }
}

Status Switches(Session& session, const SqlSink& sink) {
  RATCHET_ASSIGN(const auto switches, ReadSwitches(session.admin));
  for (const auto& [name, on] : switches) sink({name, Flag(on)});
  return Ok();
}

Status Drains(Session& session, const SqlSink& sink) {
  RATCHET_ASSIGN(const auto marked, client::Drained(session.admin));
  RATCHET_ASSIGN(const auto all, session.admin.Call(methods::kListServers, pb::ListServersRequest()));
  for (const ServerName& server : marked) {
    SqlValue state;
    SqlValue regions;
    for (const auto& row : all.server()) {
      const auto name = FromProto(row.server());
      if (!name.ok() || *name != server) continue;
      state = row.state();
      regions = WholeOf(row.regions());
    }
    sink({server.ToString(), state, regions});
  }
  return Ok();
}

Status Findings(Session& session, const SqlSink& sink) {
  pb::ReconcileRequest request;
  request.set_look_now(false);
  RATCHET_ASSIGN(const auto answer, session.admin.Call(methods::kReconcile, request));
  const auto add = [&sink](const pb::ReconcilerFinding& finding, bool doubt) {
    const auto server = finding.has_server() ? FromProto(finding.server()) : Result<ServerName>(ServerName{});
    sink({finding.has_at_wall_ms() ? WholeOf(finding.at_wall_ms()) : SqlValue(),
          finding.has_server() && server.ok() ? SqlValue(server->ToString()) : SqlValue(),
          TextOf(finding.encoded_name()), finding.what(), Flag(doubt)});
  };
  for (const auto& finding : answer.finding()) add(finding, false);
  for (const auto& finding : answer.doubt()) add(finding, true);
  return Ok();
}

using Filler = Status (*)(Session&, const SqlSink&);
struct Entry {
  SqlTable table;
  Filler fill;
};

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = {
      {{"peers",
        "clusters to which tables are shipped",
        {{"peer", kText, "id"},
         {"cluster_key", kText, ""},
         {"enabled", kInteger, "0 or 1"},
         {"serial", kInteger, "0 or 1"},
         {"lag_ms", kInteger, "age of the oldest entry that is not shipped; 0: all are shipped"},
         {"logs", kInteger, "log files that are not completely shipped"},
         {"error", kText, "error that blocks it; NULL: none"}}},
       Peers},
      {{"replication",
        "sources: what each region server ships to each peer",
        {{"peer", kText, "id"},
         {"server", kText, "server that ships"},
         {"logs_of", kText, "server whose logs these are"},
         {"lag_ms", kInteger, ""},
         {"logs", kInteger, ""},
         {"shipped", kInteger, "cells shipped since the source started"},
         {"error", kText, "error that blocks it; NULL: none"}}},
       Replication},
      {{"snapshots",
        "snapshots of tables",
        {{"name", kText, ""},
         {"table_name", kText, ""},
         {"type", kText, "FLUSH, SKIPFLUSH, DISABLED"},
         {"created_ms", kInteger, "ms since 1970"},
         {"owner", kText, "user that took it"},
         {"regions", kInteger, ""},
         {"files", kInteger, ""},
         {"bytes", kInteger, "size of the files"},
         {"ttl_s", kInteger, "time to live in seconds; NULL: it does not expire"}}},
       SnapshotRows},
      {{"namespaces",
        "namespaces and their limits",
        {{"namespace", kText, ""},
         {"max_tables", kInteger, "NULL: no limit"},
         {"max_regions", kInteger, "NULL: no limit"}}},
       Namespaces},
      {{"quotas",
        "limits of requests, one row for each limit",
        {{"subject", kText, "what it limits, for example: user ann, table t, namespace n"},
         {"within", kText, "table or namespace in which a user's limit applies; NULL: everywhere"},
         {"what", kText, "requests, write bytes, ..."},
         {"amount", kInteger, ""},
         {"per", kText, "SECONDS, MINUTES, ..."},
         {"scope", kText, "MACHINE: each region server; CLUSTER: all together"}}},
       Quotas},
      {{"switches", "switches of the cluster", {{"switch", kText, ""}, {"is_on", kInteger, "0 or 1"}}}, Switches},
      {{"drains",
        "drained servers",
        {{"server", kText, ""},
         {"state", kText, "state of the server; NULL: it does not run"},
         {"regions", kInteger, "number of regions that it still has"}}},
       Drains},
      {{"findings",
        "what the reconciler has found and done; the newest 200",
        {{"at_ms", kInteger, "ms since 1970; NULL: unconfirmed"},
         {"server", kText, ""},
         {"region", kText, "encoded name"},
         {"what", kText, "what was wrong, and what was done"},
         {"in_doubt", kInteger, "1: unconfirmed; repaired when the next check finds it again"}}},
       Findings},
  };
  return entries;
}

}  // namespace
}  // namespace settings

std::vector<sql::SqlTable> SettingsTables() {
  std::vector<sql::SqlTable> tables;
  for (const auto& entry : settings::Entries()) tables.push_back(entry.table);
  return tables;
}

Status FillSettings(Session& session, const std::string& table, const sql::SqlSink& sink) {
  const auto& entries = settings::Entries();
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&table](const auto& entry) { return entry.table.name == table; });
  if (found == entries.end()) return Error(Code::kNotFound, fmt::format("there is no table {}", table));
  return found->fill(session, sink);
}

}  // namespace ratchet::cli
