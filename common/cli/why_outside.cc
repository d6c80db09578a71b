#include "common/cli/why_outside.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "common/client/reach.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/zk/master_election.h"
#include "common/zk/server_liveness.h"
#include "common/zk/zk_session.h"

namespace ratchet::cli {
namespace {

constexpr Millis kProbe{1'000};          // of one address
constexpr std::size_t kMostProbed = 16;  // addresses of one kind

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

std::string AddressOf(const ServerName& server) { return fmt::format("{}:{}", server.host, server.port); }

std::string ReachText(const std::string& address) {
  const auto reached = client::AskAddress(address, "", kProbe);
  return reached.ok() ? "it accepts connections and does not answer" : reached.error().message();
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

// True: the members of ZooKeeper serve, and it is not the cause.
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
      "the cluster goes on serving what it serves; no death is noticed and no master takes over",
      "start ZooKeeper's members; a master that is known by address still answers: ratchet --master HOST:PORT why");
  return false;
}

std::string ServersText(const std::vector<ServerName>& servers) {
  std::string text;
  std::size_t silent = 0;
  for (std::size_t i = 0; i < std::min(servers.size(), kMostProbed); ++i) {
    const auto reached = client::AskAddress(AddressOf(servers[i]), "", kProbe);
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
  const auto master = zk::ReadMaster(session, paths);
  if (!master.ok()) {
    AddLink(chain, "zookeeper", fmt::format("ZooKeeper node {}", paths.Master()), "a master that is elected");
    return End(chain, "NO_ACTIVE_MASTER",
               fmt::format("no master is registered as active ({}); {} standby masters; {}", master.error().message(),
                           standbys, others),
               standbys > 0 ? "a standby is elected within the session time-out" : "nothing, until a master is started",
               "start a master: ratchet-master");
  }
  const std::string address = AddressOf(master->server);
  AddLink(chain, "master", fmt::format("master {}, active by its node in ZooKeeper", master->server.ToString()),
          "its process");
  End(chain, "SILENT_MASTER",
      fmt::format("master {} does not answer: {}; {} standby masters; {}", master->server.ToString(),
                  ReachText(address), standbys, others),
      standbys > 0 ? "when its ZooKeeper session ends, a standby takes over"
                   : "nothing, until its process goes on or a master is started",
      "let its process go on, or end it (kill -9), which ends its session sooner");
}

void LookAtMasters(const std::vector<std::string>& masters, pb::WhyChain& chain) {
  std::string text;
  for (std::size_t i = 0; i < std::min(masters.size(), kMostProbed); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", masters[i], ReachText(masters[i]));
  AddLink(chain, "master", "the masters that were named", "one that answers");
  End(chain, "CONNECTION", "no master answers: " + text, "a running cluster goes on serving",
      "look at the master's process and log, and at the network; with --zookeeper the command shows more");
}

}  // namespace

Result<pb::WhyResponse> AskDirectly(Session& session, const std::string& address, const pb::WhyRequest& request,
                                    Millis patience) {
  const auto colon = address.rfind(':');
  const auto port = colon == std::string::npos ? 0UL : std::strtoul(address.c_str() + colon + 1, nullptr, 10);
  if (port == 0 || port > UINT16_MAX)
    return Error(Code::kInvalidArgument, fmt::format("master '{}': expected host:port", address));
  rpc::CallOptions options;
  options.timeout = patience;
  const rpc::Endpoint endpoint{address.substr(0, colon), static_cast<std::uint16_t>(port)};
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
      "let its process go on, or end it (kill -9), which ends its session sooner");
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

}  // namespace ratchet::cli
