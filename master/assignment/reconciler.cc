#include "master/assignment/reconciler.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/assignment/region_directory.h"
#include "master/assignment/schema_reader.h"
#include "master/assignment/table_directory.h"
#include "master/env/master_env.h"
#include "master/procedures/disable_table.h"
#include "master/procedures/enable_table.h"
#include "master/procedures/transit_region_state.h"
#include "master/server/server_manager.h"
#include "procedure/executor.h"

namespace ratchet::master {

namespace {

constexpr std::size_t kFindingsKept = 200;
constexpr std::size_t kStrikesKept = 1000;  // servers
// Asked twice, the second one finds nothing left to do.
constexpr Millis kFinishAgainAfter{10'000};

// Why the server should not have this region open; empty: it is fine, or cannot be judged now.
std::string Contradiction(const std::optional<RegionNode>& node, const ServerName& server, const OnlineRegion& online,
                          TimePoint now, Millis grace) {
  if (!node) return "the region is not known";
  if (node->owner.valid() || now - node->last_update < grace) return {};
  if (node->location != server) {
    return fmt::format("the region is {} {}", RegionStateText(node->state),
                       node->location ? "at " + node->location->ToString() : "nowhere");
  }
  if (online.open_seq != 0 && node->open_order.valid() && online.open_seq != node->open_order.value()) {
    return fmt::format("opening {} is current, not {}", node->open_order, online.open_seq);
  }
  return {};
}

}  // namespace

Reconciler::Reconciler(MasterEnv& env, ReconcilerOptions options)
    : env_(env), options_(options), comparison_(env, options.grace, [this](const std::string& encoded, std::string what) {
        const MutexLock lock(mutex_);
        Note({}, encoded, std::move(what));
      }) {}

void Reconciler::Note(const ServerName& server, const std::string& encoded, std::string what) {
  RATCHET_LOG(kWarn, "Reconciler: {}{}{}", server.host.empty() ? "" : "server " + server.ToString() + ", ",
              encoded.empty() ? "" : "region " + encoded + ": ", what);
  findings_.push_back({env_.clock.WallMillis(), server, encoded, std::move(what)});
  if (findings_.size() > kFindingsKept) findings_.erase(findings_.begin());
}

void Reconciler::OnHeartbeat(const ServerName& server, const std::vector<OnlineRegion>& online) {
  // Before meta is loaded there is no picture to contradict: every region would count as unknown, and a master whose
  // load of meta takes three heartbeats would expire all servers.
  if (!env_.meta_loaded.load()) return;
  const TimePoint now = env_.clock.Now();
  std::set<std::string> listed;
  std::map<std::string, std::string> contradictions;
  for (const OnlineRegion& region : online) {
    listed.insert(region.encoded);
    if (env_.regions.Place(region.encoded, server, region.open_seq)) {
      const MutexLock lock(mutex_);
      Note(server, region.encoded, "was without a server in hbase:meta and is open there: taken into the picture");
    }
    std::string why = Contradiction(env_.regions.Get(region.encoded), server, region, now, options_.grace);
    if (!why.empty()) contradictions.emplace(region.encoded, std::move(why));
  }
  std::vector<RegionNode> missing;
  for (const RegionNode& node : env_.regions.OnServer(server)) {
    const bool settled = node.state == RegionState::kOpen && !node.owner.valid() && now - node.last_update >= options_.grace;
    if (settled && !listed.contains(node.info.encoded_name())) missing.push_back(node);
  }
  std::string expire;
  {
    const MutexLock lock(mutex_);
    auto& strikes = strikes_[server];
    std::map<std::string, std::uint32_t> next;
    for (auto& [encoded, why] : contradictions) {
      const std::uint32_t count = strikes[encoded] + 1;
      next[encoded] = count;
      Note(server, encoded, fmt::format("says it is open there; {} (heartbeat {} of {})", why, count, options_.strikes));
      if (count >= options_.strikes) expire = fmt::format("goes on serving region {} although {}", encoded, why);
    }
    for (const RegionNode& node : missing) Note(server, node.info.encoded_name(), "is not open there any more: opened again");
    strikes = std::move(next);
    heard_[server] = now;
    if (!expire.empty() || strikes.empty()) strikes_.erase(server);
    // Of servers that died with strikes: there are never more than these.
    if (strikes_.size() > kStrikesKept) strikes_.erase(strikes_.begin());
  }
  if (!expire.empty()) {
    env_.servers.Expire(server, expire);
    return;
  }
  // Closing what is not there is answered (S20), and opening it again puts it in order.
  for (const RegionNode& node : missing) {
    env_.regions.Update(node.info.encoded_name(), [](RegionNode&) {});  // a fresh picture: not again for a while
    env_.executor->SubmitAsync(TransitRegionState::Reopen(node.info), procedure::SubmitOptions{}, [](const Result<ProcId>&) {});
  }
}

void Reconciler::Sweep() {
  if (!env_.meta_loaded.load()) return;
  env_.servers.Sweep();
  DisownEnded();
  ExpireUnknownServers();
  AssignLeftBehind();
  FinishTables();
  ReadSchemasAgain();
}

// A table whose descriptor could not be read; what waits for it goes on by itself.
void Reconciler::ReadSchemasAgain() {
  constexpr int kAtATime = 16;  // each is a few file operations on the thread of the timers
  int read = 0;
  for (const TableNode& table : env_.tables.List()) {
    if (table.schema != nullptr || ++read > kAtATime) continue;
    if (Status again = ReadSchemaAgain(env_, table.name); !again.ok()) RATCHET_LOG(kError, "{}", again.error().message());
  }
}

std::vector<std::string> Reconciler::Problems() const {
  std::vector<std::string> problems;
  for (const RegionNode& node : env_.regions.InTransition()) {
    if (!node.unplaced || node.owner.valid()) continue;
    problems.push_back(fmt::format("hbase:meta names no server of region {}: taken from the server that says it has it, or assigned "
                                   "when each server has said that it does not (ratchet reconcile)", node.info.encoded_name()));
  }
  for (const TableNode& table : env_.tables.List()) {
    if (table.schema == nullptr) problems.push_back(table.schema_error);
  }
  return problems;
}

// A procedure gives its region up in its last step, unless an operator has ended it before.
void Reconciler::DisownEnded() {
  for (const RegionNode& node : env_.regions.All()) {
    if (!node.owner.valid()) continue;
    if (env_.executor->GetResult(node.owner).status == procedure::ProcedureResult::Status::kRunning) continue;
    const std::string encoded = node.info.encoded_name();
    env_.regions.Disown(encoded, node.owner);
    const MutexLock lock(mutex_);
    Note(node.location.value_or(ServerName{}), encoded,
         fmt::format("was {} under pid={}, which has ended: taken from it", RegionStateText(node.state), node.owner));
  }
}

void Reconciler::AssignLeftBehind() {
  for (const RegionNode& node : env_.regions.All()) {
    if (node.owner.valid() || node.info.IsMeta() || env_.clock.Now() - node.last_update < options_.grace) continue;
    if (IsAtRest(node.state) && node.state != RegionState::kOffline) continue;
    const auto table = env_.tables.Get(node.info.table);
    if (!table || table->state != TableState::kEnabled) continue;
    if (node.location && env_.servers.PhaseOf(*node.location) != ServerPhase::kOnline) continue;  // its crash procedure does
    const std::string encoded = node.info.encoded_name();
    {
      const MutexLock lock(mutex_);
      if (node.unplaced && !AllHaveSaid(node)) continue;
      Note(node.location.value_or(ServerName{}), encoded,
           fmt::format("was {} and nobody looked after it: assigned", RegionStateText(node.state)));
    }
    env_.regions.Update(encoded, [](RegionNode&) {});  // a fresh picture: not again for a while
    env_.executor->SubmitAsync(TransitRegionState::Assign(node.info, {}), procedure::SubmitOptions{}, [](const Result<ProcId>&) {});
  }
}

// Whether each server that may have the region has said since it was found that it does not. Those that are being
// recovered may have it too.
bool Reconciler::AllHaveSaid(const RegionNode& node) {
  if (RATCHET_MUTANT("reconciler.assign_unplaced")) return true;
  const auto online = env_.servers.Online();
  std::erase_if(heard_, [&online](const auto& each) {
    return std::find(online.begin(), online.end(), each.first) == online.end();
  });
  if (env_.servers.AnyDead()) return false;
  return std::all_of(online.begin(), online.end(), [&](const ServerName& server) {
    const auto heard = heard_.find(server);
    return heard != heard_.end() && heard->second > node.last_update;
  });
}

void Reconciler::FinishTables() {
  std::vector<ProcedurePtr> finish;
  {
    const MutexLock lock(mutex_);
    const auto before = std::exchange(asked_, {});
    for (const TableNode& table : env_.tables.List()) {
      if (!IsLeftBehind(env_, table)) continue;
      const auto last = before.find({table.name, table.transition});
      if (last != before.end() && env_.clock.Now() - last->second < kFinishAgainAfter) {  // it may wait for the table's lock
        asked_.insert(*last);
        continue;
      }
      asked_.emplace(std::pair(table.name, table.transition), env_.clock.Now());
      const bool enable = table.state == TableState::kEnabling;
      const auto turn = env_.tables.LastTurn(table.name);
      Note({}, {},
           fmt::format("table {} was {} under {}, which has ended: {}", table.name.ToString(), TableStateText(table.state),
                       turn ? fmt::format("pid={}", turn->pid) : "a procedure", enable ? "enabled" : "disabled"));
      finish.push_back(enable ? EnableTable::Make(table.name) : DisableTable::Make(table));
    }
  }
  for (ProcedurePtr& procedure : finish) {
    env_.executor->SubmitAsync(std::move(procedure), procedure::SubmitOptions{}, [](const Result<ProcId>&) {});
  }
}

void Reconciler::ExpireUnknownServers() {
  std::map<ServerName, std::string> nobody;
  for (const RegionNode& node : env_.regions.All()) {
    if (node.owner.valid() || !node.location || env_.clock.Now() - node.last_update < options_.grace) continue;
    if (!env_.servers.PhaseOf(*node.location)) nobody.emplace(*node.location, node.info.encoded_name());
  }
  for (const auto& [server, encoded] : nobody) {
    {
      const MutexLock lock(mutex_);
      Note(server, encoded, "has the region, but nobody knows the server: it is taken for dead");
    }
    env_.servers.ExpireUnknown(server, "a region is said to be there, and nobody knows it");
  }
}

std::vector<ReconcilerFinding> Reconciler::Findings() const {
  const MutexLock lock(mutex_);
  return findings_;
}

}  // namespace ratchet::master
