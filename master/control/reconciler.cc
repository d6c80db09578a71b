#include "master/control/reconciler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/control/catalog_janitor.h"
#include "master/control/server_manager.h"
#include "master/control/table_comparison.h"
#include "master/env/master_env.h"
#include "master/procedures/disable_table.h"
#include "master/procedures/enable_table.h"
#include "master/procedures/init_meta.h"
#include "master/procedures/table_steps.h"
#include "master/procedures/transit_region_state.h"
#include "master/state/placement.h"
#include "master/state/region_directory.h"
#include "master/state/schema_reader.h"
#include "master/state/server_directory.h"
#include "master/state/split_workers.h"
#include "master/state/switches.h"
#include "master/state/table_directory.h"
#include "procedure/executor.h"

namespace ratchet::master {

namespace {

constexpr std::size_t kFindingsKept = 200;
constexpr std::size_t kRegionsASweep = 5'000;

}  // namespace

Reconciler::Reconciler(MasterEnv& env, ServerManager& manager, ReconcilerOptions options)
    : env_(env),
      manager_(manager),
      options_(options),
      watch_(env, options),
      comparison_(env, options.grace,
                  [this](const std::string& encoded, std::string what) {
                    const MutexLock lock(mutex_);
                    Note({}, encoded, std::move(what));
                  }),
      survey_(env, [this](const std::string& encoded, std::string what) {
        const MutexLock lock(mutex_);
        Note({}, encoded, std::move(what));
      }) {}

void Reconciler::Note(const ServerName& server, const std::string& encoded, std::string what) {
  RATCHET_LOG(kWarn, "Reconciler: {}{}{}", server.host.empty() ? "" : "server " + server.ToString() + ", ",
              encoded.empty() ? "" : "region " + encoded + ": ", what);
  findings_.push_back({env_.clock.WallMillis(), server, encoded, std::move(what)});
  if (findings_.size() > kFindingsKept) findings_.erase(findings_.begin());
}

void Reconciler::OnHeartbeat(const ServerName& server, std::vector<OnlineRegion> online) {
  RegionList list;
  list.open = std::move(online);
  static_cast<void>(OnHeartbeat(server, list));
}

std::uint64_t Reconciler::OnHeartbeat(const ServerName& server, const RegionList& list) {
  OnlineWatch::Findings found = watch_.Look(server, list);
  {
    const MutexLock lock(mutex_);
    for (auto& [encoded, what] : found.notes) Note(server, encoded, std::move(what));
  }
  if (!found.expire.empty()) {
    manager_.Expire(server, found.expire);
    return found.number;
  }
  // Closing what is not there is answered (S20), and opening it again puts it in order.
  for (const RegionNode& node : found.missing) {
    if (!Send(node.encoded, TransitRegionState::Reopen(node.info))) continue;
    env_.regions.Update(node.encoded, [](RegionNode&) {});  // a fresh picture: not again for a while
    const MutexLock lock(mutex_);
    Note(server, node.encoded, "is not open there any more: opened again");
  }
  return found.number;
}

void Reconciler::Survey() {
  if (env_.meta_loaded.load()) survey_.LookAtNext();
}

void Reconciler::LookNow(const std::function<void(Status)>& done) {
  if (looking_.exchange(true)) {
    return done(
        Error(Code::kUnavailable, "a look that was asked for before is under way: try again when it has ended"));
  }
  const bool begun = env_.RunSlowWork([this, alive = std::weak_ptr(alive_), done] {
    if (alive.expired()) return;
    Sweep();
    if (env_.meta_loaded.load()) survey_.LookAtAll();
    looking_ = false;
    done(Ok());
  });
  if (begun) return;
  looking_ = false;
  done(Error(Code::kUnavailable, "too many other looks wait for the storage: try again later"));
}

void Reconciler::Sweep() {
  manager_.Sweep();
  watch_.ForgetGone();
  ForgetSent();
  FreeSplitWorkers();
  DisownEnded();
  LookAfterMeta();
  if (!env_.meta_loaded.load()) return;
  ExpireUnknownServers();
  AssignLeftBehind();
  FinishTables();
  ReadSchemasAgain();
  RemoveGarbage();
}

void Reconciler::RemoveGarbage() {
  const TimePoint now = env_.clock.Now();  // outside the mutex: in the simulation a process may stall here
  {
    const MutexLock lock(mutex_);
    if (now < next_garbage_) return;
    next_garbage_ = now + options_.janitor_interval.Get();
  }
  if (env_.switches.IsOn(Switch::kCatalogJanitor)) (void)RemoveGarbageNow();
}

std::size_t Reconciler::RemoveGarbageNow() {
  constexpr std::size_t kAtATime = 100;
  std::vector<std::pair<std::string, procedure::ProcedurePtr>> found;
  {
    const MutexLock lock(mutex_);
    found = FindGarbage(env_, &garbage_turn_, kAtATime);
  }
  for (auto& [key, procedure] : found) Send(key, std::move(procedure));
  return found.size();
}

// A table whose descriptor could not be read; what waits for it goes on by itself.
void Reconciler::ReadSchemasAgain() {
  constexpr std::size_t kAtATime = 16;  // each is a few file operations
  std::vector<TableName> unread;
  for (const TableNode& table : env_.tables.Unsettled()) {
    if (table.schema == nullptr && unread.size() < kAtATime) unread.push_back(table.name);
  }
  if (unread.empty() || reading_schemas_.exchange(true)) return;
  const bool begun = env_.RunSlowWork([this, alive = std::weak_ptr(alive_), unread] {
    if (alive.expired()) return;
    for (const TableName& table : unread) {
      if (Status again = ReadSchemaAgain(env_, table); !again.ok()) RATCHET_LOG(kError, "{}", again.error().message());
    }
    reading_schemas_ = false;
  });
  if (!begun) reading_schemas_ = false;  // the next sweep
}

std::vector<std::string> Reconciler::Problems() const {
  std::vector<std::string> problems;
  for (const RegionNode& node : env_.regions.InTransition()) {
    if (!node.unplaced || node.owner.valid()) continue;
    problems.push_back(
        fmt::format("hbase:meta names no server of region {}: taken from the server that says it has it, or assigned "
                    "when each server has said that it does not (ratchet reconcile)",
                    node.info.encoded_name()));
  }
  for (const TableNode& table : env_.tables.Unsettled()) {
    if (table.schema == nullptr) problems.push_back(table.schema_error);
  }
  for (std::string& problem : survey_.Problems()) problems.push_back(std::move(problem));
  return problems;
}

bool Reconciler::Send(const std::string& key, procedure::ProcedurePtr procedure) {
  {
    const MutexLock lock(mutex_);
    const auto [sent, fresh] = sent_.try_emplace(key);
    if (!fresh) {
      const bool running = !sent->second.valid() || env_.executor->GetResult(sent->second).status ==
                                                        procedure::ProcedureResult::Status::kRunning;
      if (running) return false;
      sent->second = ProcId();
    }
  }
  env_.executor->SubmitAsync(std::move(procedure), {"master", {}, {}}, [this, key](const Result<ProcId>& pid) {
    const MutexLock lock(mutex_);
    if (pid.ok()) {
      sent_[key] = *pid;
    } else {
      sent_.erase(key);
    }
  });
  return true;
}

void Reconciler::ForgetSent() {
  const MutexLock lock(mutex_);
  std::erase_if(sent_, [this](const auto& sent) {
    return sent.second.valid() &&
           env_.executor->GetResult(sent.second).status != procedure::ProcedureResult::Status::kRunning;
  });
}

void Reconciler::FreeSplitWorkers() {
  if (RATCHET_MUTANT("master.leak_split_places")) return;
  for (const ProcId holder : env_.split_workers.Holders()) {
    if (env_.executor->GetResult(holder).status == procedure::ProcedureResult::Status::kRunning) continue;
    if (!env_.split_workers.Release(holder)) continue;
    RATCHET_LOG(kWarn, "Reconciler: pid={} has ended and held a place for splitting a log: free again", holder);
    env_.executor->Wake(SplitWorkers::FreeEvent());
  }
}

// A procedure gives its region up in its last step, unless an operator has ended it before.
void Reconciler::DisownEnded() {
  std::vector<RegionNode> owned;
  {
    const MutexLock lock(mutex_);
    owned = env_.regions.Owned(&owned_turn_, kRegionsASweep);
  }
  for (const RegionNode& node : owned) {
    if (env_.executor->GetResult(node.owner).status == procedure::ProcedureResult::Status::kRunning) continue;
    const std::string& encoded = node.encoded;
    // It may have ended, and given the region up itself, since the copy was made.
    const auto present = env_.regions.Get(encoded);
    if (!present || present->owner != node.owner) continue;
    env_.regions.Disown(encoded, node.owner);
    env_.placement.Settled(encoded);  // a plan of it would count for ever
    // A split or a merge that was ended before its commit: hbase:meta never hears of it, and no rows depend on it.
    if (IsBeingMade(node.state)) env_.regions.Remove(encoded);
    const MutexLock lock(mutex_);
    Note(node.location.value_or(ServerName{}), encoded,
         fmt::format("was {} under pid={}, which has ended: taken from it", RegionStateText(node.state), node.owner));
  }
}

// Everything waits for hbase:meta, the load of it included; so it is looked after before that.
void Reconciler::LookAfterMeta() {
  if (!env_.executor->FindUnfinished("InitMeta").empty()) return;
  const auto meta = env_.regions.Get(kMetaEncodedName);
  const std::string encoded(kMetaEncodedName);
  if (meta) {
    if (meta->owner.valid() || env_.clock.Now() - meta->last_update < options_.grace) return;
    if (meta->location) {
      if (!env_.servers.PhaseOf(*meta->location)) {
        return manager_.ExpireUnknown(*meta->location,
                                      "hbase:meta is said to be there, and the master does not know that server");
      }
      switch (env_.servers.StandingOf(*meta->location, /*meta=*/true)) {
        case ServerStanding::kAwait: return;  // its crash procedure does it, before anything else
        case ServerStanding::kSettled: break;
        case ServerStanding::kServes:
          if (meta->state == RegionState::kOpen) return;
          break;
      }
    }
  }
  const bool made = env_.executor->SystemRecords().contains(std::string(kMetaLocationRecord));
  if (!Send(encoded, made ? TransitRegionState::Assign(MetaRegionInfo(), {}) : InitMeta::Make())) return;
  const MutexLock lock(mutex_);
  Note(meta ? meta->location.value_or(ServerName{}) : ServerName{}, encoded,
       made ? fmt::format("was {} and no procedure owned it: assigned",
                          meta ? RegionStateText(meta->state) : "not there")
            : std::string("was never made, and no procedure makes it: made"));
}

void Reconciler::AssignLeftBehind() {
  std::vector<RegionNode> unsettled;
  {
    const MutexLock lock(mutex_);
    unsettled = env_.regions.Unsettled(&unsettled_turn_, kRegionsASweep);
  }
  for (const RegionNode& node : unsettled) AssignIfLeftBehind(node);
  // At rest, and open all the same.
  for (const TableName& table : env_.tables.Disabled()) {
    if (env_.regions.NotClosedOf(table) == 0) continue;
    for (const RegionNode& node : env_.regions.OfTable(table)) AssignIfLeftBehind(node);
  }
}

void Reconciler::AssignIfLeftBehind(const RegionNode& node) {
  if (env_.clock.Now() - node.last_update < options_.grace || !master::IsLeftBehind(env_, node)) return;
  if (node.unplaced && !watch_.AllHaveSaid(node)) return;
  // What a split or a merge has closed or made is its own to be opened, until it has ended.
  if (IsOfAReshape(*env_.executor, node.info)) return;
  const auto table = env_.tables.Get(node.info.table);
  const bool disabled = table.has_value() && table->state == TableState::kDisabled;
  if (!Send(node.encoded, TransitRegionState::Assign(node.info, {}))) return;
  const MutexLock lock(mutex_);
  Note(node.location.value_or(ServerName{}), node.encoded,
       fmt::format("was {} and no procedure owned it: {}", RegionStateText(node.state),
                   disabled ? "closed, as its table is disabled" : "assigned"));
}

void Reconciler::FinishTables() {
  for (const TableNode& table : env_.tables.Unsettled()) {
    if (!master::IsLeftBehind(env_, table)) continue;
    const bool enable = table.state == TableState::kEnabling;
    if (!Send("table " + table.name.ToString(), enable ? EnableTable::Make(table.name) : DisableTable::Make(table)))
      continue;
    const MutexLock lock(mutex_);
    const auto turn = env_.tables.LastTurn(table.name);
    Note(
        {}, {},
        fmt::format("table {} was {} under {}, which has ended: {}", table.name.ToString(), TableStateText(table.state),
                    turn ? fmt::format("pid={}", turn->pid) : "a procedure", enable ? "enabled" : "disabled"));
  }
}

void Reconciler::ExpireUnknownServers() {
  std::map<ServerName, std::string> nobody;
  for (const ServerName& server : env_.regions.Locations()) {
    if (env_.servers.PhaseOf(server)) continue;
    for (const RegionNode& node : env_.regions.OnServer(server)) {
      if (!node.owner.valid() && env_.clock.Now() - node.last_update >= options_.grace)
        nobody.emplace(server, node.encoded);
    }
  }
  for (const auto& [server, encoded] : nobody) {
    {
      const MutexLock lock(mutex_);
      Note(server, encoded, "has the region, but the master does not know the server: it is taken for dead");
    }
    manager_.ExpireUnknown(server, "a region is said to be there, and the master does not know that server");
  }
}

std::vector<ReconcilerFinding> Reconciler::Findings() const {
  const MutexLock lock(mutex_);
  return findings_;
}

}  // namespace ratchet::master
