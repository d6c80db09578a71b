// Replication peers.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "common/client/peers.h"
#include "common/model/codec.h"
#include "common/model/replication_peer.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/sql_settings.h"

namespace ratchet::cli {
namespace {

using hbase::pb::ReplicationPeer;

// "t", "ns:t", "t=f,g" or "ns:t=f".
Status AddTableCf(const std::string& text, google::protobuf::RepeatedPtrField<hbase::pb::TableCF>& out) {
  const auto equals = text.find('=');
  RATCHET_ASSIGN(const TableName table, TableName::Parse(text.substr(0, equals)));
  auto& entry = *out.Add();
  ToProto(table, *entry.mutable_table_name());
  for (std::size_t at = equals; at != std::string::npos;) {
    const auto comma = text.find(',', at + 1);
    entry.add_families(text.substr(at + 1, comma == std::string::npos ? comma : comma - at - 1));
    at = comma;
  }
  return Ok();
}

Status ApplyFlags(const PeerFlags& flags, ReplicationPeer& config) {
  if (flags.all) {
    config.set_replicate_all(true);
    config.clear_namespaces();
    config.clear_table_cfs();
  }
  if (!flags.namespaces.empty() || !flags.tables.empty()) {
    config.set_replicate_all(false);
    config.clear_namespaces();
    config.clear_table_cfs();
    config.clear_exclude_namespaces();
    config.clear_exclude_table_cfs();
    for (const std::string& name : flags.namespaces) config.add_namespaces(name);
    for (const std::string& table : flags.tables) RATCHET_TRY(AddTableCf(table, *config.mutable_table_cfs()));
  }
  if (!flags.without_namespaces.empty() || !flags.without_tables.empty()) {
    config.clear_exclude_namespaces();
    config.clear_exclude_table_cfs();
    for (const std::string& name : flags.without_namespaces) config.add_exclude_namespaces(name);
    for (const std::string& table : flags.without_tables)
      RATCHET_TRY(AddTableCf(table, *config.mutable_exclude_table_cfs()));
  }
  if (flags.serial) config.set_serial(*flags.serial);
  if (flags.bandwidth) config.set_bandwidth(*flags.bandwidth);
  return Ok();
}

std::vector<std::string> Texts(const google::protobuf::RepeatedPtrField<hbase::pb::TableCF>& tables) {
  std::vector<std::string> texts;
  for (const auto& each : tables) {
    const auto table = FromProto(each.table_name());
    std::string text = table.ok() ? table->ToString() : "?";
    if (!each.families().empty()) text += fmt::format("={}", fmt::join(each.families(), ","));
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> Texts(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return {names.begin(), names.end()};
}

const char* StateText(const hbase::pb::ReplicationPeerDescription& peer) {
  return IsEnabled(peer.state()) ? "ENABLED" : "DISABLED";
}

}  // namespace

std::string TroubleOf(const hbase::pb::ReplicationProgress& progress) {
  if (!progress.error().empty()) return progress.error();
  if (progress.waits_for_region().empty()) return {};
  return fmt::format("waits until an earlier opening of region {} is shipped, in the logs of {}",
                     progress.waits_for_region(), progress.waits_for_server());
}

int AddPeer(Session& session, const std::string& id, const std::string& cluster_key, const PeerFlags& flags) {
  ReplicationPeer config;
  config.set_clusterkey(cluster_key);
  config.set_replicate_all(true);
  if (const Status applied = ApplyFlags(flags, config); !applied.ok()) return Report(session, applied.error());
  for (const Status& checked : {CheckPeerId(id), CheckPeerConfig(config)})
    if (!checked.ok()) return Report(session, checked.error());
  client::Admin admin(session.connection, session.timeout);
  return FinishAlone(session, admin, client::AddPeer(admin, id, config, !flags.disabled), "added", "peer " + id,
                     flags.wait);
}

int AlterPeer(Session& session, const std::string& id, const PeerFlags& flags) {
  client::Admin admin(session.connection, session.timeout);
  auto peer = client::DescribePeer(admin, id);
  if (!peer.ok()) return Report(session, peer.error());
  if (const Status applied = ApplyFlags(flags, *peer->mutable_config()); !applied.ok())
    return Report(session, applied.error());
  return FinishAlone(session, admin, client::UpdatePeer(admin, id, peer->config()), "altered", "peer " + id,
                     flags.wait);
}

int ChangePeer(Session& session, PeerVerb verb, const std::string& id, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  const std::string what = "peer " + id;
  switch (verb) {
    case PeerVerb::kRemove: return FinishAlone(session, admin, client::RemovePeer(admin, id), "removed", what, wait);
    case PeerVerb::kEnable: return FinishAlone(session, admin, client::EnablePeer(admin, id), "enabled", what, wait);
    case PeerVerb::kDisable: break;
  }
  return FinishAlone(session, admin, client::DisablePeer(admin, id), "disabled", what, wait);
}

int ListPeers(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  const auto peers = client::ListPeers(admin);
  if (!peers.ok()) return Report(session, peers.error());
  const auto progress = client::ReplicationProgress(admin, "");
  if (!progress.ok()) return Report(session, progress.error());
  std::map<std::string, std::pair<std::uint64_t, std::string>> late;  // peer -> longest lag, an error
  for (const auto& source : progress->source()) {
    auto& [lag, error] = late[source.progress().peer()];
    lag = std::max(lag, source.progress().lag_ms());
    if (error.empty()) error = TroubleOf(source.progress());
  }
  std::vector<std::vector<Field>> rows;
  for (const auto& peer : *peers) {
    const auto& [lag, error] = late[peer.id()];
    rows.push_back({peer.id(), peer.config().clusterkey(), std::string(StateText(peer)), peer.config().serial(),
                    Span{static_cast<std::int64_t>(lag)}, error.empty() ? Field() : Field(error)});
  }
  session.printer.Table({"PEER", "CLUSTER KEY", "STATE", "SERIAL", "LAG", "ERROR"}, rows);
  return kExitOk;
}

int DescribePeer(Session& session, const std::string& id) {
  client::Admin admin(session.connection, session.timeout);
  const auto peer = client::DescribePeer(admin, id);
  if (!peer.ok()) return Report(session, peer.error());
  const auto progress = client::ReplicationProgress(admin, id);
  if (!progress.ok()) return Report(session, progress.error());
  std::vector<std::vector<Field>> rows;
  for (const auto& source : progress->source()) {
    const auto teller = FromProto(source.teller());
    const auto& each = source.progress();
    rows.push_back({teller.ok() ? teller->ToString() : "?", each.server(),
                    Span{static_cast<std::int64_t>(each.lag_ms())}, Number(each.logs()), Number(each.shipped()),
                    TroubleOf(each).empty() ? Field() : Field(TroubleOf(each))});
  }
  const ReplicationPeer& config = peer->config();
  session.printer.Document(
      {{"peer", peer->id()},
       {"cluster key", config.clusterkey()},
       {"state", std::string(StateText(*peer))},
       {"all tables", config.replicate_all()},
       {"namespaces", Texts(config.namespaces())},
       {"tables", Texts(config.table_cfs())},
       {"without namespaces", Texts(config.exclude_namespaces())},
       {"without tables", Texts(config.exclude_table_cfs())},
       {"serial", config.serial()},
       {"bandwidth", static_cast<std::int64_t>(config.bandwidth())}},
      {{"sources", "sources", {"SERVER", "LOGS OF", "LAG", "LOGS", "SHIPPED", "ERROR"}, std::move(rows)}});
  return kExitOk;
}

}  // namespace ratchet::cli
