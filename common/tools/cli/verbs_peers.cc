// Verbs on replication peers.
#include <cstdint>

#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr const char* kNoWaitForPeer = "Print the pid and do not wait for the end";
constexpr const char* kTableFamilies = "TABLE[=FAMILY,...]";

void AddPeerFlags(CLI::App* verb, PeerFlags& flags) {
  verb->add_option("--namespace", flags.namespaces, "Ship the tables of these namespaces only")->type_name(kind::kText);
  verb->add_option("--table", flags.tables, "Ship these tables only, or these families of them")
      ->type_name(kTableFamilies);
  verb->add_option("--without-namespace", flags.without_namespaces, "Ship all tables except those of these namespaces")
      ->type_name(kind::kText);
  verb->add_option("--without-table", flags.without_tables,
                   "Ship all tables except these, or except these families of them")
      ->type_name(kTableFamilies);
  verb->add_flag("--all", flags.all, "Ship all tables again");
  verb->add_option("--bandwidth", flags.bandwidth, "Bytes a second that each region server ships; 0: unlimited")
      ->check(Whole(0, INT64_MAX))
      ->type_name(kind::kNumber);
  verb->add_flag("--serial,!--no-serial", flags.serial,
                 "Ship the writes of a region in order, even if it moves or its server dies; off: only the writes of "
                 "each region server are in order");
  verb->add_flag("!--no-wait", flags.wait, kNoWaitForPeer);
}

}  // namespace

void AddPeerVerbs(CLI::App& app, Action& action) {
  AddVerb(app, "peers", "List the clusters to which tables are shipped, with their lag", {"peers"})
      ->callback([&action] { action = ListPeers; });
  const auto id = std::make_shared<std::string>();
  const auto wait = std::make_shared<bool>(true);
  const auto with_id = [&](const char* word, const char* help, std::initializer_list<const char*> examples) {
    auto* verb = AddVerb(app, word, help, examples);
    verb->add_option("peer", *id, "Name of the peer; without '-' and '/'")->type_name(kind::kText)->required();
    return verb;
  };
  with_id("describe-peer", "Show a peer's configuration and its sources", {"describe-peer backup"})
      ->callback([=, &action] { action = [=](Session& s) { return DescribePeer(s, *id); }; });

  const auto key = std::make_shared<std::string>();
  const auto flags = std::make_shared<PeerFlags>();
  auto* add = with_id("add-peer", "Ship families with REPLICATION_SCOPE 1 to another cluster",
                      {"add-peer backup zk1,zk2,zk3:2181:/hbase", "add-peer backup zk1:2181:/hbase --table orders",
                       "add-peer backup zk1:2181:/hbase --serial", "add-peer backup zk1:2181:/hbase --disabled"});
  add->add_option("cluster-key", *key, "ZooKeeper of the peer: host1,host2:port:/parent")
      ->type_name(kind::kText)
      ->required();
  AddPeerFlags(add, *flags);
  add->add_flag("--disabled", flags->disabled, "Keep logs for the peer, but do not ship until it is enabled");
  add->callback([=, &action] { action = [=](Session& s) { return AddPeer(s, *id, *key, *flags); }; });

  auto* alter = with_id("alter-peer", "Change the tables that are shipped to a peer",
                        {"alter-peer backup --table orders --table stock=f", "alter-peer backup --all"});
  AddPeerFlags(alter, *flags);
  alter->callback([=, &action] { action = [=](Session& s) { return AlterPeer(s, *id, *flags); }; });

  const auto change = [&](const char* word, const char* help, const char* example, PeerVerb verb) {
    auto* added = with_id(word, help, {example});
    added->add_flag("!--no-wait", *wait, kNoWaitForPeer);
    added->callback([=, &action] { action = [=](Session& s) { return ChangePeer(s, verb, *id, *wait); }; });
  };
  change("remove-peer", "Stop shipping to a peer, and forget its positions", "remove-peer backup", PeerVerb::kRemove);
  change("enable-peer", "Resume shipping to a peer, with all that it has missed", "enable-peer backup",
         PeerVerb::kEnable);
  change("disable-peer", "Stop shipping to a peer until it is enabled; logs are kept for it", "disable-peer backup",
         PeerVerb::kDisable);
}

}  // namespace ratchet::cli
