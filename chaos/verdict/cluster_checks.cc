#include "chaos/verdict/cluster_checks.h"

#include <algorithm>
#include <functional>
#include <set>
#include <thread>

#include <fmt/core.h>

#include "chaos/verdict/folders.h"
#include "chaos/verdict/meta_ranges.h"
#include "chaos/verdict/owners.h"
#include "chaos/verdict/settled.h"
#include "chaos/workloads/load.h"
#include "common/client/admin.h"
#include "common/model/codec.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/region_state.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr int kHistories = 300;  // limit of procedures whose history is read
constexpr Millis kBetweenLooks{100};

template <class Request, class Response>
Result<Response> Ask(client::Connection& connection, const rpc::Method<Request, Response>& method,
                     const std::type_identity_t<Request>& request) {
  return client::Admin(connection, kCheckTimeout).Call(method, request);
}

Finding Unanswered(const char* what, const Error& error) {
  return {false, fmt::format("{} cannot be asked for: {}", what, error.ToString())};
}

Result<std::vector<ServerName>> LiveServers(client::Connection& connection) {
  pb::ListServersRequest request;
  request.set_include_dead(false);
  RATCHET_ASSIGN(const auto answer, Ask(connection, methods::kListServers, request));
  std::vector<ServerName> servers;
  for (const auto& row : answer.server()) {
    RATCHET_ASSIGN(auto server, FromProto(row.server()));
    servers.push_back(std::move(server));
  }
  return servers;
}

Status AskServers(client::Connection& connection, OwnerViews& views) {
  RATCHET_ASSIGN(const auto servers, LiveServers(connection));
  for (const auto& server : servers) {
    RATCHET_ASSIGN(const auto reply, (connection.pool().CallSync(methods::kGetOnlineRegion, {server.host, server.port},
                                                                 hbase::pb::GetOnlineRegionRequest())));
    for (const auto& info : reply.message.region_info()) {
      RATCHET_ASSIGN(const RegionInfo region, FromProto(info));
      views.open[region.encoded_name()].push_back(server.ToString());
    }
  }
  return Ok();
}

Result<pb::ListRegionsResponse> MastersRegions(client::Connection& connection) {
  return Ask(connection, methods::kListRegions, pb::ListRegionsRequest());
}

Status AskMaster(client::Connection& connection, OwnerViews& views) {
  RATCHET_ASSIGN(const auto regions, MastersRegions(connection));
  for (const auto& row : regions.region()) {
    const auto state = ParseRegionState(row.state());
    if (state && IsSplitOrMerged(*state)) continue;  // clients do not see split or merged regions
    auto& known = views.master[row.encoded_name()];
    known.state = row.state();
    if (!row.has_server()) continue;
    RATCHET_ASSIGN(const ServerName server, FromProto(row.server()));
    known.server = server.ToString();
  }
  return Ok();
}

Status AskMeta(client::Connection& connection, OwnerViews& views) {
  client::Admin admin(connection, kCheckTimeout);
  RATCHET_ASSIGN(const auto tables, admin.ListTables(true));
  for (const auto& table : tables) {
    if (table.IsMeta()) continue;
    RATCHET_ASSIGN(const auto regions, admin.Regions(table));
    for (const auto& location : regions) views.meta[location.region.encoded_name()] = location.server.ToString();
  }
  return Ok();
}

Finding Repeat(const std::function<Finding()>& look, TimePoint until) {
  const SystemClock clock;
  for (;;) {
    Finding finding = look();
    if (finding.good || clock.Now() >= until) return finding;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Finding LookAtOwners(client::Connection& connection) {
  OwnerViews views;
  for (const auto ask : {&AskServers, &AskMaster, &AskMeta}) {
    if (const Status asked = ask(connection, views); !asked.ok()) return Unanswered("the regions", asked.error());
  }
  return CompareOwners(views);
}

}  // namespace

Finding CheckOneOwner(client::Connection& connection, Millis patience) {
  return Repeat([&] { return LookAtOwners(connection); }, SystemClock().Now() + patience);
}

Finding CheckProcedures(client::Connection& connection) {
  pb::ListProceduresRequest request;
  request.set_include_finished(true);
  const auto listed = Ask(connection, methods::kListProcedures, request);
  if (!listed.ok()) return Unanswered("the procedures", listed.error());
  std::vector<std::uint64_t> finished;
  for (const auto& procedure : listed->procedure()) {
    if (procedure.finished()) finished.push_back(procedure.pid());
  }
  std::sort(finished.rbegin(), finished.rend());
  if (finished.size() > kHistories) finished.resize(kHistories);
  std::vector<pb::ProcedureInfo> ended;
  for (const std::uint64_t pid : finished) {
    pb::GetProcedureRequest one;
    one.set_pid(pid);
    auto answer = Ask(connection, methods::kGetProcedure, one);
    if (!answer.ok()) return Unanswered("a procedure", answer.error());
    // otherwise forgotten meanwhile
    if (answer->has_procedure()) ended.push_back(std::move(*answer->mutable_procedure()));
  }
  return JudgeProcedures(*listed, ended);
}

Finding CheckNoLocks(client::Connection& connection) {
  const auto listed = Ask(connection, methods::kListLocks, pb::ListLocksRequest());
  return listed.ok() ? JudgeLocks(*listed) : Unanswered("the locks", listed.error());
}

Finding CheckIdle(client::Connection& connection) {
  const auto status = Ask(connection, methods::kGetStatus, pb::GetStatusRequest());
  if (!status.ok()) return Unanswered("the status", status.error());
  const auto servers = Ask(connection, methods::kListServers, pb::ListServersRequest());
  return servers.ok() ? JudgeIdle(*status, *servers) : Unanswered("the servers", servers.error());
}

Finding CheckFiles(client::Connection& connection, const std::filesystem::path& root) {
  const auto servers = LiveServers(connection);
  if (!servers.ok()) return Unanswered("the servers", servers.error());
  const auto regions = MastersRegions(connection);
  if (!regions.ok()) return Unanswered("the regions", regions.error());
  ExpectedFolders expected;
  for (const auto& server : *servers) expected.servers.insert(server.ToString());
  for (const auto& row : regions->region()) {
    const auto info = FromProto(row.region());
    if (!info.ok()) return Unanswered("a region", info.error());
    expected.regions[info->table].insert(row.encoded_name());
  }
  const auto wrong = CompareFolders(expected, root);
  if (!wrong.ok()) return Unanswered("the shared directory", wrong.error());
  return Summary("no orphan files: every directory of data and logs belongs to a region or a live server",
                 "directories without an owner, or missing ones", *wrong);
}

std::vector<Finding> CheckCluster(client::Connection& connection, const std::optional<std::filesystem::path>& root,
                                  Millis patience) {
  const TimePoint until = SystemClock().Now() + patience;
  std::vector<Finding> findings;
  for (const auto check : {&CheckIdle, &LookAtOwners, &CheckRanges, &CheckProcedures, &CheckNoLocks})
    findings.push_back(Repeat([&] { return check(connection); }, until));
  // The master removes some directories only after a while: logs of a refused server once they are a minute old,
  // leftovers of splits and merges at a later sweep.
  constexpr Millis kFilesPatience{90'000};
  const TimePoint files_until = std::max(until, SystemClock().Now() + kFilesPatience);
  if (root) findings.push_back(Repeat([&] { return CheckFiles(connection, *root); }, files_until));
  return findings;
}

}  // namespace ratchet::chaos
