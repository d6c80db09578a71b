#include "common/model/replication_peer.h"
#include "common/base/exception_names.h"
#include "common/base/host_port.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/peer_secrets.h"

namespace ratchet {
namespace {

using hbase::pb::ReplicationPeer;
using hbase::pb::TableCF;
using TableCfs = google::protobuf::RepeatedPtrField<TableCF>;
using Namespaces = google::protobuf::RepeatedPtrField<std::string>;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kDefaultEndpoint =
    "org.apache.hadoop.hbase.replication.regionserver.HBaseInterClusterReplicationEndpoint";
// Classes of HBase's own tests, which record entries in the memory of HBase's servers: accepted, but nothing is shipped
// to them.
constexpr std::array<std::string_view, 2> kEndpointsElsewhere = {
    "org.apache.hadoop.hbase.replication.VerifyWALEntriesReplicationEndpoint",
    "org.apache.hadoop.hbase.replication.DummyReplicationEndpoint"};

Error Refused(std::string why) {
  return {Code::kInvalidArgument, std::move(why), std::string(exception::kDoNotRetryIo)};
}

std::string_view Trim(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool IsPort(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  int port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + (c - '0');
  }
  return port > 0 && port <= 65535;
}

Status CheckTables(const TableCfs& tables, const Namespaces& namespaces) {
  std::set<TableName> seen;
  for (const TableCF& each : tables) {
    const auto name = FromProto(each.table_name());
    if (!name.ok()) return Refused("a table of the peer's configuration has no name: " + name.error().message());
    if (!seen.insert(*name).second) return Refused(fmt::format("table {} is named twice", name->ToString()));
    if (std::find(namespaces.begin(), namespaces.end(), name->ns) == namespaces.end()) continue;
    return Refused(
        fmt::format("Table-cfs {} is conflict with namespaces {} in peer config", name->ToString(), name->ns));
  }
  return Ok();
}

// True if the table is named with these families, or with all.
bool Names(const TableCfs& tables, const TableName& table, std::string_view family) {
  return std::any_of(tables.begin(), tables.end(), [&](const TableCF& each) {
    const auto name = FromProto(each.table_name());
    if (!name.ok() || *name != table) return false;
    return each.families().empty() ||
           std::any_of(each.families().begin(), each.families().end(), [&](const auto& f) { return f == family; });
  });
}

bool Names(const Namespaces& namespaces, const TableName& table) {
  return std::find(namespaces.begin(), namespaces.end(), table.ns) != namespaces.end();
}

bool HasOwnEndpoint(const ReplicationPeer& config) { return !Trim(config.replicationendpointimpl()).empty(); }

}  // namespace

Result<ClusterKey> ParseClusterKey(std::string_view key) {
  const Error bad =
      Refused(fmt::format("Invalid cluster key: {}, the format is host1,host2:port:/parent-of-znodes", key));
  key = Trim(key);
  const auto last = key.rfind(':');
  if (last == std::string_view::npos) return bad;
  const std::string_view parent = key.substr(last + 1);
  if (parent.size() < 2 || parent.front() != '/' || parent.back() == '/') return bad;
  const std::string_view quorum = key.substr(0, last);
  const auto port_at = quorum.rfind(':');
  if (port_at == std::string_view::npos || !IsPort(quorum.substr(port_at + 1))) return bad;
  ClusterKey parsed{{}, std::string(parent)};
  for (const std::string_view server : Split(quorum.substr(0, port_at), ',')) {
    const bool has_port = !server.ends_with(']') && server.find(':') != std::string_view::npos;
    std::string text(server);
    if (!has_port) text.append(quorum.substr(port_at));
    const auto address = SplitHostPort(text);
    if (!address.has_value()) return bad;
    if (!parsed.zookeeper.empty()) parsed.zookeeper += ',';
    parsed.zookeeper += JoinHostPort(address->host, address->port);
  }
  return parsed;
}

TableName ReplicationTable() { return {std::string(kSystemNamespace), "replication"}; }

bool IsEnabled(const hbase::pb::ReplicationState& state) {
  return state.state() == hbase::pb::ReplicationState::ENABLED;
}

hbase::pb::ReplicationState PeerState(bool enabled) {
  hbase::pb::ReplicationState state;
  state.set_state(enabled ? hbase::pb::ReplicationState::ENABLED : hbase::pb::ReplicationState::DISABLED);
  return state;
}

Status CheckPeerId(std::string_view id) {
  const bool fine = !id.empty() && id.size() <= 100 && id.find_first_of("-/ \t\r\n") == std::string_view::npos;
  return fine ? Ok() : Status(Refused(fmt::format("Found invalid peer name: {}", id)));
}

bool IsShippedHere(const ReplicationPeer& config) {
  return !HasOwnEndpoint(config) || Trim(config.replicationendpointimpl()) == kDefaultEndpoint;
}

void NormalizePeerConfig(ReplicationPeer& config) {
  if (config.has_clusterkey()) config.set_clusterkey(std::string(Trim(config.clusterkey())));
  if (!config.has_replicate_all()) config.set_replicate_all(config.namespaces().empty() && config.table_cfs().empty());
}

Status CheckPeerConfig(const ReplicationPeer& config) {
  if (config.ByteSizeLong() > kMostPeerBytes)
    return Refused(fmt::format("the peer's configuration has more than {} bytes", kMostPeerBytes));
  if (!IsShippedHere(config)) {
    const std::string_view name = Trim(config.replicationendpointimpl());
    if (std::find(kEndpointsElsewhere.begin(), kEndpointsElsewhere.end(), name) == kEndpointsElsewhere.end()) {
      return Refused(
          fmt::format("Can not instantiate configured replication endpoint class={}: Ratchet ships to other "
                      "clusters only, by {}",
                      name, kDefaultEndpoint));
    }
  } else {
    RATCHET_TRY(ParseClusterKey(config.clusterkey()));
  }
  if (!config.remotewaldir().empty()) return Refused("synchronous replication (remoteWALDir) is not offered");
  if (config.bandwidth() < 0) return Refused("the bandwidth is negative");
  if (config.replicate_all()) {
    if (!config.namespaces().empty() || !config.table_cfs().empty())
      return Refused("Need clean namespaces or table-cfs config firstly when you want replicate all cluster");
    return CheckTables(config.exclude_table_cfs(), config.exclude_namespaces());
  }
  if (!config.exclude_namespaces().empty() || !config.exclude_table_cfs().empty()) {
    return Refused(
        "Need clean exclude-namespaces or exclude-table-cfs config firstly when replicate_all flag is false");
  }
  return CheckTables(config.table_cfs(), config.namespaces());
}

Status CheckPeerUpdate(std::string_view id, const ReplicationPeer& present, const ReplicationPeer& wanted) {
  if (Trim(present.clusterkey()) != Trim(wanted.clusterkey())) {
    return Refused(
        fmt::format("Changing the cluster key on an existing peer is not allowed. Existing key '{}' for peer {} does "
                    "not match new key '{}'",
                    present.clusterkey(), id, wanted.clusterkey()));
  }
  if (Trim(present.replicationendpointimpl()) != Trim(wanted.replicationendpointimpl())) {
    return Refused(fmt::format(
        "Changing the replication endpoint implementation class on an existing peer is not allowed. Existing class "
        "'{}' for peer {} does not match new class '{}'",
        present.replicationendpointimpl(), id, wanted.replicationendpointimpl()));
  }
  return CheckHiddenValues(present, wanted);
}

bool GoesToPeer(const ReplicationPeer& config, const TableName& table, std::string_view family) {
  if (table.IsSystem()) return false;
  if (config.replicate_all())
    return !Names(config.exclude_namespaces(), table) && !Names(config.exclude_table_cfs(), table, family);
  return Names(config.namespaces(), table) || Names(config.table_cfs(), table, family);
}

}  // namespace ratchet
