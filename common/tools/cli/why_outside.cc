#include "common/tools/cli/why_outside.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "common/base/host_port.h"
#include "common/client/reach.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/zk/cluster_place.h"
#include "common/zk/master_election.h"
#include "common/zk/refused_start.h"
#include "common/zk/server_liveness.h"
#include "common/zk/zk_session.h"

namespace ratchet::cli {
namespace {

constexpr Millis kProbe{1'000};          // time limit for one address
constexpr std::size_t kMostProbed = 16;  // maximum number of addresses of one kind

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string ReachText(const std::string& address) {
  const auto reached = client::AskAddress(address, "", kProbe);
  return reached.ok() ? "it accepts connections but does not answer" : reached.error().message();
}

void AddLink(pb::WhyChain& chain, const char* kind, const std::string& subject, const std::string& waits_for) {
  auto& link = *chain.add_link();
  link.set_kind(kind);
  link.set_subject(subject);
  if (!waits_for.empty()) link.set_waits_for(waits_for);
}

void End(pb::WhyChain& chain, const char* cause, const std::string& text, const std::string& next,
         const std::string& verb) {
  chain.set_cause(cause);
  chain.set_cause_text(text);
  chain.set_next(next);
  chain.set_verb(verb);
}

// Returns true if the members of ZooKeeper serve, so that ZooKeeper is not the cause.
bool LookAtMembers(const std::string& places, pb::WhyChain& chain) {
  const auto members = Split(places);
  std::string text;
  std::size_t serving = 0;
  for (std::size_t i = 0; i < std::min(members.size(), kMostProbed); ++i) {
    bool serves = false;
    text +=
        fmt::format("{}{} {}", i == 0 ? "" : "; ", members[i], client::ZooKeeperMemberText(members[i], kProbe, serves));
    if (serves) ++serving;
  }
  if (serving > 0) return true;
  AddLink(chain, "zookeeper", "ZooKeeper at " + places, "a majority of its members");
  End(chain, "ZOOKEEPER", fmt::format("no member of ZooKeeper serves: {}", text),
      "the cluster continues to serve its online regions; no death is noticed and no master takes over",
      "start ZooKeeper's members; a master that is known by address still answers: ratchet --master HOST:PORT why");
  return false;
}

std::string ServersText(const std::vector<ServerName>& servers) {
  std::string text;
  std::size_t silent = 0;
  for (std::size_t i = 0; i < std::min(servers.size(), kMostProbed); ++i) {
    const auto reached = client::AskAddress(servers[i].Address(), "", kProbe);
    if (reached.ok()) continue;
    ++silent;
    text += fmt::format("; {}: {}", servers[i].ToString(), reached.error().message());
  }
  return fmt::format("{} region servers are registered, {} of them cannot be reached{}", servers.size(), silent, text);
}

void LookAtNodes(zk::ZkSession& session, const zk::ZkPaths& paths, pb::WhyChain& chain) {
  const auto backups = zk::ReadBackupMasters(session, paths);
  const std::size_t standbys = backups.ok() ? backups->size() : 0;
  const auto servers = zk::ReadLiveServers(session, paths);
  const std::string others = servers.ok() ? ServersText(*servers) : servers.error().message();
  const auto node = session.Get(paths.Master());
  if (const auto problem = node.ok() ? zk::MasterNodeProblem(*node, paths) : std::nullopt) {
    AddLink(chain, "zookeeper", fmt::format("ZooKeeper node {}", paths.Master()), "its removal");
    return End(chain, "STRANGER_NODE", fmt::format("{}; {} standby masters; {}", *problem, standbys, others),
               "nothing, until that node is removed", fmt::format("zkCli.sh delete {}", paths.Master()));
  }
  const auto place = zk::ReadPlace(session, paths);
  if (place.ok() && !place->there) {
    AddLink(chain, "zookeeper", fmt::format("ZooKeeper node {}", paths.ClusterId()), "the id of a cluster");
    return End(chain, "ZOOKEEPER",
               fmt::format("ZooKeeper has no node {}: its data was lost, no cluster was ever started with this parent "
                           "node, or --znode-parent is wrong; {} standby masters; {}",
                           paths.ClusterId(), standbys, others),
               "a master that runs writes the node again; servers that start without it end with code 14",
               "check --zookeeper and --znode-parent; if ZooKeeper's data was lost: stop every server, then start one "
               "master with --adopt-zookeeper");
  }
  const auto master = zk::ReadMaster(session, paths);
  if (!master.ok()) {
    AddLink(chain, "zookeeper", fmt::format("ZooKeeper node {}", paths.Master()), "a master that is elected");
    // S114 (no start without the past): a master that was started now would be refused again.
    if (const auto refused = zk::ReadRefusedStart(session, paths); refused.ok()) {
      return End(chain, "MASTER_REFUSED", fmt::format("no master is active, and a start was refused: {}", *refused),
                 "region servers continue to serve; nothing else happens until a master leads",
                 "repair what the cause names ('ratchet-master --check-root --root ROOT'), then start the masters");
    }
    return End(chain, "NO_ACTIVE_MASTER",
               fmt::format("no master is registered as active ({}); {} standby masters; {}", master.error().message(),
                           standbys, others),
               standbys > 0 ? "a standby is elected within the session time-out" : "nothing, until a master is started",
               "start a master: ratchet-master");
  }
  const std::string address = master->server.Address();
  AddLink(chain, "master", fmt::format("master {}, active by its node in ZooKeeper", master->server.ToString()),
          "its process");
  End(chain, "SILENT_MASTER",
      fmt::format("master {} does not answer: {}; {} standby masters; {}", master->server.ToString(),
                  ReachText(address), standbys, others),
      standbys > 0 ? "when its ZooKeeper session ends, a standby takes over"
                   : "nothing, until its process continues or a master is started",
      "resume its process, or end it (kill -9), which ends its session sooner");
}

void LookAtMasters(const std::vector<std::string>& masters, pb::WhyChain& chain) {
  std::string text;
  for (std::size_t i = 0; i < std::min(masters.size(), kMostProbed); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", masters[i], ReachText(masters[i]));
  AddLink(chain, "master", "the masters that were named", "one that answers");
  End(chain, "CONNECTION", "no master answers: " + text, "a running cluster continues to serve",
      "look at the master's process and log, and at the network; with --zookeeper the command shows more");
}

}  // namespace

Result<pb::WhyResponse> AskDirectly(Session& session, const std::string& address, const pb::WhyRequest& request,
                                    Millis patience) {
  const auto split = SplitHostPort(address);
  if (!split.has_value())
    return Error(Code::kInvalidArgument,
                 fmt::format("master '{}': expected host:port or [IPv6 address]:port", address));
  rpc::CallOptions options;
  options.timeout = patience;
  const rpc::Endpoint endpoint{split->host, split->port};
  auto reply = session.connection.pool().CallSync(methods::kWhy, endpoint, request, std::move(options));
  if (!reply.ok()) return reply.error();
  return std::move(reply->message);
}

void AddSilentActive(pb::WhyResponse& answer, const std::string& address, const Error& error) {
  pb::WhyChain chain;
  if (answer.chain_size() > 0 && answer.chain(0).link_size() > 0) *chain.add_link() = answer.chain(0).link(0);
  AddLink(chain, "master", "master at " + address + ", active", "its process");
  End(chain, "SILENT_MASTER", fmt::format("the active master at {} does not answer: {}", address, error.message()),
      "when its ZooKeeper session ends, this standby takes over",
      "resume its process, or end it (kill -9), which ends its session sooner");
  answer.clear_chain();
  answer.set_verdict(chain.cause_text());
  *answer.add_chain() = std::move(chain);
}

pb::WhyResponse LookFromOutside(Session& session, const Error& error, Millis patience) {
  const client::ConnectionOptions& options = session.connection.options();
  pb::WhyResponse answer;
  answer.set_subject("cluster");
  answer.set_answered_by("this command line: no active master answers");
  pb::WhyChain& chain = *answer.add_chain();
  AddLink(chain, "client", "this command line", "the active master (" + error.message() + ")");
  if (!options.masters.empty()) {
    LookAtMasters(options.masters, chain);
  } else if (LookAtMembers(options.zookeeper, chain)) {
    auto opened = zk::ZkSession::Open({options.zookeeper, options.zookeeper_timeout});
    Status connected = opened.ok() ? (*opened)->WaitConnected(patience) : Status(opened.error());
    if (connected.ok()) {
      LookAtNodes(**opened, zk::ZkPaths{options.znode_parent}, chain);
    } else {
      AddLink(chain, "zookeeper", "ZooKeeper at " + options.zookeeper, "a session");
      End(chain, "ZOOKEEPER", "ZooKeeper gives no session: " + connected.error().message(), "nothing",
          "look at ZooKeeper's members");
    }
  }
  answer.set_verdict(chain.cause_text());
  return answer;
}

std::string RefusedStartText(Session& session) {
  const client::ConnectionOptions& options = session.connection.options();
  if (options.zookeeper.empty()) return {};
  auto opened = zk::ZkSession::Open({options.zookeeper, options.zookeeper_timeout});
  if (!opened.ok() || !(*opened)->WaitConnected(kProbe).ok()) return {};
  const zk::ZkPaths paths{options.znode_parent};
  if (zk::ReadMaster(**opened, paths).ok()) return {};
  const auto refused = zk::ReadRefusedStart(**opened, paths);
  return refused.ok() ? *refused : std::string();
}

}  // namespace ratchet::cli
