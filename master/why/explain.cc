// From a procedure to the server, the region or hbase:meta that it waits for. Each cause states what happens next, and
// which verb helps.
#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "common/model/region_info.h"
#include "master/why/master_why.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

using host::ChainBuilder;
using host::WhyAge;
using procedure::ProcedureInfo;
using WaitKind = procedure::WaitingOn::Kind;

// Heartbeats come several times a second to every few seconds. A shorter silence than this means nothing.
constexpr std::int64_t kSilent = 5'000;
// A write or sync that had lasted this long when the server reported it counts as hanging.
constexpr std::int64_t kStorageHangs = 1'000;

// The tries to open a region have failed; the cause is the last refusal.
void EndOpening(const ProcedureInfo& info, const std::string& error, ChainBuilder& chain) {
  if (info.failing) return chain.EndRetry(info);
  chain.End(WhyCause::kFailedOpen, error, "the master tries to open it again, at another server where there is one",
            fmt::format("repair what the error names; ratchet give-up {} --yes loses its rows",
                        info.description.Get("region")));
  chain.SetNextTry(info);
}

}  // namespace

bool MasterWhy::AnyOnline() const {
  return std::any_of(facts_.servers.begin(), facts_.servers.end(),
                     [](const auto& entry) { return entry.second.online; });
}

// True for a step without an answer in time while the server of hbase:meta is silent: most steps write there.
bool MasterWhy::WaitsForMeta(const ProcedureInfo& info) const {
  const bool without_answer =
      info.last_error && (info.last_error->code() == Code::kTimeout || info.last_error->code() == Code::kUnavailable);
  const auto meta = facts_.regions.find(std::string(kMetaEncodedName));
  if (!without_answer || meta == facts_.regions.end()) return false;
  const auto server = facts_.servers.find(meta->second.server);
  return server != facts_.servers.end() && server->second.online && server->second.silent_ms.value_or(0) >= kSilent;
}

// The procedure waits for a server's answer, for hbase:meta, or for a server that can take a region.
bool MasterWhy::ExplainExternal(const ProcedureInfo& info, rpb::WhyLink& link, ChainBuilder& chain) const {
  const bool retries = info.waiting.kind == WaitKind::kRetry;
  if (retries && WaitsForMeta(info)) {
    link.set_waits_for(fmt::format("step {}: the next try; the server of hbase:meta does not answer", info.step_name));
    FollowRegion(std::string(kMetaEncodedName), chain);
    return true;
  }
  if (!retries) {
    if (const auto order = facts_.order_targets.find(info.pid); order != facts_.order_targets.end()) {
      FollowOrder(info, order->second, link, chain);
      return true;
    }
  }
  if (const auto refused = facts_.setbacks.find(info.pid);
      refused != facts_.setbacks.end() && facts_.transitions.contains(info.pid)) {
    link.set_waits_for(fmt::format("step {}: the next try", info.step_name));
    EndOpening(info, refused->second.error, chain);
    return true;
  }
  if (retries) return false;
  if (!AnyOnline()) {
    link.set_waits_for(fmt::format("step {}: a region server", info.step_name));
    chain.End(WhyCause::kNoServer, "no region server is alive", "nothing, until one registers",
              "start a region server: ratchet-regionserver");
    return true;
  }
  const auto meta = facts_.regions.find(std::string(kMetaEncodedName));
  if (meta != facts_.regions.end() && !meta->second.served) {
    link.set_waits_for(fmt::format("step {}: hbase:meta", info.step_name));
    FollowRegion(std::string(kMetaEncodedName), chain);
    return true;
  }
  if (!facts_.meta_loaded) {
    link.set_waits_for(fmt::format("step {}: hbase:meta to be loaded by the master", info.step_name));
    chain.End(WhyCause::kStarting, fmt::format("the master is starting: {}", facts_.step),
              "it continues when meta is loaded", "ratchet status");
    return true;
  }
  return false;
}

void MasterWhy::FollowOrder(const ProcedureInfo& info, const std::string& server, rpb::WhyLink& link,
                            ChainBuilder& chain) const {
  link.set_waits_for(fmt::format("step {}: the answer to its order", info.step_name));
  auto& order = chain.AddLink("order", fmt::format("order {} ({}) to server {}", info.pid, info.type, server),
                              chain.WaitOf(info));
  order.set_waits_for("the answer of server " + server);
  FollowServer(server, chain);
  if (chain.cause() == WhyCause::kUnanswered) chain.SetNextTry(info);
}

void MasterWhy::FollowServer(const std::string& name, ChainBuilder& chain) const {
  const auto found = facts_.servers.find(name);
  if (found == facts_.servers.end()) {
    chain.AddLink("server", "server " + name, std::nullopt);
    return chain.End(WhyCause::kGone, fmt::format("server {} is no longer known: it has been recovered", name),
                     "what waited for it continues", "ratchet why");
  }
  const WhyServer& server = found->second;
  auto& link = chain.AddLink("server", "server " + name, server.silent_ms);
  if (server.online) return EndServer(name, server, chain);
  if (!server.crash_procedure.valid()) {
    link.set_waits_for("its recovery to begin");
    return chain.End(WhyCause::kServerDead, fmt::format("server {} is dead, and its recovery has not begun", name),
                     "the master submits a ServerCrash procedure", "ratchet status");
  }
  link.set_waits_for(fmt::format("its recovery: pid {}", server.crash_procedure));
  chain.FollowProcedure(server.crash_procedure);
}

void MasterWhy::FollowRegion(const std::string& encoded, ChainBuilder& chain) const {
  const auto found = facts_.regions.find(encoded);
  if (found == facts_.regions.end()) return;
  const WhyRegion& region = found->second;
  auto& link = chain.AddLink("region", fmt::format("region {} of table {}, {}", encoded, region.table, region.state),
                             region.since_ms);
  if (region.owner.valid()) {
    link.set_waits_for(fmt::format("pid {}, which owns its transition", region.owner));
    return chain.FollowProcedure(region.owner);
  }
  if (facts_.servers.contains(region.server)) {
    link.set_waits_for("server " + region.server);
    return FollowServer(region.server, chain);
  }
  link.set_waits_for("a procedure that opens it");
  chain.End(WhyCause::kNoProcedure, fmt::format("region {} is {} and no procedure works on it", encoded, region.state),
            "the reconciler looks at it in its next round", "ratchet reconcile; ratchet assign " + encoded);
}

void MasterWhy::EndServer(const std::string& name, const WhyServer& server, ChainBuilder& chain) const {
  // A server's report about its storage is as old as its last heartbeat; without a newer one only that report counts.
  const std::int64_t silent = server.silent_ms.value_or(0);
  if (server.storage_hangs_ms && *server.storage_hangs_ms - silent >= kStorageHangs) {
    return chain.End(WhyCause::kDisk,
                     fmt::format("the storage of server {} has not answered for {}", name,
                                 WhyAge(static_cast<std::uint64_t>(*server.storage_hangs_ms))),
                     "it withdraws when another server's storage answers, and its regions open elsewhere",
                     "look at its disk; ratchet servers");
  }
  if (silent >= kSilent) {
    const std::string send = server.last_error.empty() ? std::string() : "; last send: " + server.last_error;
    return chain.End(
        WhyCause::kSilentServer,
        fmt::format("server {} has sent no heartbeat for {}: its process hangs, is stopped or is cut off{}", name,
                    WhyAge(static_cast<std::uint64_t>(silent)), send),
        "when its ZooKeeper session ends, or it has accepted no order for too long, the master fences it and "
        "opens its regions elsewhere",
        "resume its process, or end it (kill -9), which ends its session sooner");
  }
  if (server.lacks_room) {
    return chain.End(WhyCause::kSpace, fmt::format("server {}: {}", name, *server.lacks_room),
                     "it continues when there is room", "make room on its disk");
  }
  if (server.failures > 0) {
    return chain.End(
        WhyCause::kConnection,
        fmt::format("server {} cannot be reached ({} times in a row): {}", name, server.failures, server.last_error),
        "the master sends again; after a bounded number of tries it fences the server",
        "look at the server's process and the network");
  }
  chain.End(
      WhyCause::kUnanswered, fmt::format("server {} lives and has not answered the order", name),
      fmt::format("the order is sent again every {}", WhyAge(static_cast<std::uint64_t>(facts_.order_resend_ms))),
      "look at the server's log; to end its process (kill -9) lets the master fence it and open its regions elsewhere");
}

MasterWhy::Chain MasterWhy::ChainOfServer(const std::string& server) const {
  const auto found = facts_.servers.find(server);
  if (found == facts_.servers.end()) return std::nullopt;
  ChainBuilder chain(facts_, *this);
  FollowServer(server, chain);
  // It answers, and no order is pending for it.
  if (chain.cause() == WhyCause::kUnanswered && found->second.orders == 0) return std::nullopt;
  return chain.Take();
}

MasterWhy::Chain MasterWhy::ChainOfRegion(const std::string& encoded) const {
  const auto found = facts_.regions.find(encoded);
  if (found == facts_.regions.end()) return std::nullopt;
  if (!found->second.owner.valid() && (found->second.served || found->second.at_rest)) return std::nullopt;
  ChainBuilder chain(facts_, *this);
  FollowRegion(encoded, chain);
  return chain.Take();
}

}  // namespace ratchet::master
