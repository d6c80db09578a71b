// Verbs on replication peers.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "common/client/peers.h"
#include "common/model/codec.h"
#include "common/model/replication_peer.h"
#include "common/tools/cli/sql_settings.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

using hbase::pb::ReplicationPeer;

const char* PeerStateText(const hbase::pb::ReplicationPeerDescription& peer) {
  return IsEnabled(peer.state()) ? "ENABLED" : "DISABLED";
}

}  // namespace

std::string TroubleOf(const hbase::pb::ReplicationProgress& progress) {
  if (!progress.error().empty()) return progress.error();
  if (progress.waits_for_region().empty()) return {};
  return fmt::format("waits until an earlier opening of region {} is shipped, in the logs of {}",
                     progress.waits_for_region(), progress.waits_for_server());
}

Result<int> ListPeers(Session& session) {
  RATCHET_ASSIGN(const auto peers, client::ListPeers(session.admin));
  RATCHET_ASSIGN(const auto progress, client::ReplicationProgress(session.admin, ""));
  std::map<std::string, std::pair<std::uint64_t, std::string>> late;  // peer -> longest lag, an error
  for (const auto& source : progress.source()) {
    auto& [lag, error] = late[source.progress().peer()];
    lag = std::max(lag, source.progress().lag_ms());
    if (error.empty()) error = TroubleOf(source.progress());
  }
  std::vector<std::vector<Field>> rows;
  for (const auto& peer : peers) {
    const auto& [lag, error] = late[peer.id()];
    rows.push_back({peer.id(), peer.config().clusterkey(), std::string(PeerStateText(peer)), peer.config().serial(),
                    Span{static_cast<std::int64_t>(lag)}, error.empty() ? Field() : Field(error)});
  }
  session.printer.Table({"PEER", "CLUSTER KEY", "STATE", "SERIAL", "LAG", "ERROR"}, rows);
  return kExitOk;
}

namespace {

constexpr const char* kTableFamilies = "TABLE[=FAMILY,...]";

struct PeerFlags {
  std::string id;
  std::string cluster_key;
  std::vector<std::string> namespaces;
  std::vector<std::string> tables;  // "t" or "t=f,g"
  std::vector<std::string> without_namespaces;
  std::vector<std::string> without_tables;
  bool all = false;
  bool disabled = false;
  std::optional<bool> serial;
  std::optional<std::int64_t> bandwidth;
  bool wait = true;
};

void AddId(CLI::App& verb, PeerFlags& flags) {
  Need(verb, "peer", flags.id, kind::kText, "Name of the peer; without '-' and '/'");
}

void AddConfig(CLI::App& verb, PeerFlags& flags) {
  Take(verb, "--namespace", flags.namespaces, kind::kText, "Ship the tables of these namespaces only");
  Take(verb, "--table", flags.tables, kTableFamilies, "Ship these tables only, or these families of them");
  Take(verb, "--without-namespace", flags.without_namespaces, kind::kText,
       "Ship all tables except those of these namespaces");
  Take(verb, "--without-table", flags.without_tables, kTableFamilies,
       "Ship all tables except these, or except these families of them");
  verb.add_flag("--all", flags.all, "Ship all tables again");
  TakeWhole(verb, "--bandwidth", flags.bandwidth, kind::kNumber, 0, INT64_MAX,
            "Bytes a second that each region server ships; 0: unlimited");
  verb.add_flag("--serial,!--no-serial", flags.serial,
                "Ship the writes of a region in order, even if it moves or its server dies; off: only the writes of "
                "each region server are in order");
  AddNoWait(verb, flags.wait);
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

Result<int> DescribePeer(Session& session, const PeerFlags& flags) {
  RATCHET_ASSIGN(const auto peer, client::DescribePeer(session.admin, flags.id));
  RATCHET_ASSIGN(const auto progress, client::ReplicationProgress(session.admin, flags.id));
  std::vector<std::vector<Field>> rows;
  for (const auto& source : progress.source()) {
    const auto teller = FromProto(source.teller());
    const auto& each = source.progress();
    rows.push_back({teller.ok() ? teller->ToString() : "?", each.server(),
                    Span{static_cast<std::int64_t>(each.lag_ms())}, Number(each.logs()), Number(each.shipped()),
                    TroubleOf(each).empty() ? Field() : Field(TroubleOf(each))});
  }
  const ReplicationPeer& config = peer.config();
  session.printer.Document(
      {{"peer", peer.id()},
       {"cluster key", config.clusterkey()},
       {"state", std::string(PeerStateText(peer))},
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

struct DescribePeerFlags : PeerFlags {
  void Bind(CLI::App& verb) { AddId(verb, *this); }
};

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

Result<int> AddPeer(Session& session, const PeerFlags& flags) {
  ReplicationPeer config;
  config.set_clusterkey(flags.cluster_key);
  config.set_replicate_all(true);
  RATCHET_TRY(ApplyFlags(flags, config));
  for (const Status& checked : {CheckPeerId(flags.id), CheckPeerConfig(config)})
    if (!checked.ok()) return checked.error();
  return FinishAlone(session, client::AddPeer(session.admin, flags.id, config, !flags.disabled), "added",
                     "peer " + flags.id, flags.wait);
}

struct AddPeerFlags : PeerFlags {
  void Bind(CLI::App& verb) {
    AddId(verb, *this);
    Need(verb, "cluster-key", cluster_key, kind::kText, "ZooKeeper of the peer: host1,host2:port:/parent");
    AddConfig(verb, *this);
    verb.add_flag("--disabled", disabled, "Keep logs for the peer, but do not ship until it is enabled");
  }
};

Result<int> AlterPeer(Session& session, const PeerFlags& flags) {
  RATCHET_ASSIGN(auto peer, client::DescribePeer(session.admin, flags.id));
  RATCHET_TRY(ApplyFlags(flags, *peer.mutable_config()));
  return FinishAlone(session, client::UpdatePeer(session.admin, flags.id, peer.config()), "altered", "peer " + flags.id,
                     flags.wait);
}

struct AlterPeerFlags : PeerFlags {
  void Bind(CLI::App& verb) {
    AddId(verb, *this);
    AddConfig(verb, *this);
  }
};

struct ChangePeerFlags : PeerFlags {
  void Bind(CLI::App& verb) {
    AddId(verb, *this);
    AddNoWait(verb, wait);
  }
};

// The action of a verb without flags of its own. `done`: "removed".
template <class Submit>
auto ChangingPeer(const char* done, Submit submit) {
  return [done, submit](Session& session, const PeerFlags& flags) {
    return FinishAlone(session, submit(session.admin, flags.id), done, "peer " + flags.id, flags.wait);
  };
}

}  // namespace

Verbs PeerVerbs() {
  return {
      Plain("peers", "List the clusters to which tables are shipped, with their lag", {"peers"}, ListPeers),
      Verb<DescribePeerFlags>("describe-peer", "Show a peer's configuration and its sources", {"describe-peer backup"},
                              DescribePeer),
      Verb<AddPeerFlags>("add-peer", "Ship families with REPLICATION_SCOPE 1 to another cluster",
                         {"add-peer backup zk1,zk2,zk3:2181:/hbase", "add-peer backup zk1:2181:/hbase --table orders",
                          "add-peer backup zk1:2181:/hbase --serial", "add-peer backup zk1:2181:/hbase --disabled"},
                         AddPeer),
      Verb<AlterPeerFlags>("alter-peer", "Change the tables that are shipped to a peer",
                           {"alter-peer backup --table orders --table stock=f", "alter-peer backup --all"}, AlterPeer),
      Verb<ChangePeerFlags>("remove-peer", "Stop shipping to a peer, and forget its positions", {"remove-peer backup"},
                            ChangingPeer("removed", client::RemovePeer)),
      Verb<ChangePeerFlags>("enable-peer", "Resume shipping to a peer, with all that it has missed",
                            {"enable-peer backup"}, ChangingPeer("enabled", client::EnablePeer)),
      Verb<ChangePeerFlags>("disable-peer", "Stop shipping to a peer until it is enabled; logs are kept for it",
                            {"disable-peer backup"}, ChangingPeer("disabled", client::DisablePeer))};
}

}  // namespace ratchet::cli
