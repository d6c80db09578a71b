#include "master/repair/reconciler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/split_workers.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/policy/placement.h"
#include "master/procedures/admin/init_meta.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/schema_reader.h"
#include "master/procedures/table/disable_table.h"
#include "master/procedures/table/enable_table.h"
#include "master/procedures/table/table_steps.h"
#include "master/repair/catalog_janitor.h"
#include "master/repair/table_comparison.h"
#include "master/requests/server_manager.h"
#include "procedure/api/executor.h"

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
                    const PartLock lock(mutex_);
                    Note({}, encoded, std::move(what));
                  }),
      survey_(env, [this](const std::string& encoded, std::string what) {
        const PartLock lock(mutex_);
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
    const PartLock lock(mutex_);
    for (auto& [encoded, what] : found.notes) Note(server, encoded, std::move(what));
  }
  if (!found.expire.empty()) {
    manager_.Expire(server, found.expire);
    return found.number;
  }
  // A close order for a region that the server does not have is answered (S20: answers are repeated); opening the
  // region again repairs it.
  for (const RegionNode& node : found.missing) {
    if (!Send(node.encoded, TransitRegionState::Reopen(node.info))) continue;
    // marks the node as changed, so that it is not judged again for a while
    env_.regions.Update(node.encoded, [](RegionNode&) {});
    const PartLock lock(mutex_);
    Note(server, node.encoded, "is no longer open there: opened again");
  }
  return found.number;
}

void Reconciler::LookForKeptEdits() {
  auto kept = env_.files.ListKeptEdits();
  if (!kept.ok()) {
    RATCHET_LOG(kWarn, "Reconciler: cannot list quarantine/edits: {}", kept.error().ToString());
    return;
  }
  const PartLock lock(mutex_);
  kept_edits_ = std::move(kept).value();
}

std::map<std::string, std::size_t> Reconciler::KeptEdits() const {
  const PartLock lock(mutex_);
  return kept_edits_;
}

void Reconciler::Survey() {
  LookForKeptEdits();  // also before hbase:meta is loaded: its own edits may be kept
  if (env_.meta_loaded.load()) survey_.LookAtNext();
}

void Reconciler::LookNow(const std::function<void(Status)>& done) {
  if (looking_.exchange(true)) {
    return done(Error(Code::kUnavailable, "a consistency check is already running; retry when it has ended"));
  }
  const bool begun = env_.RunSlowWork([this, alive = std::weak_ptr(alive_), done] {
    if (alive.expired()) return;
    Sweep();
    LookForKeptEdits();
    if (env_.meta_loaded.load()) survey_.LookAtAll();
    looking_ = false;
    done(Ok());
  });
  if (begun) return;
  looking_ = false;
  done(Error(Code::kUnavailable, "too many other checks wait for the storage; retry later"));
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
    const PartLock lock(mutex_);
    if (now < next_garbage_) return;
    next_garbage_ = now + options_.janitor_interval.Get();
  }
  if (env_.switches.IsOn(Switch::kCatalogJanitor)) (void)RemoveGarbageNow();
}

std::size_t Reconciler::RemoveGarbageNow() {
  constexpr std::size_t kAtATime = 100;
  std::string position = garbage_position_.Get();
  auto found = FindGarbage(env_, &position, kAtATime);
  garbage_position_.Set(std::move(position));
  for (auto& [key, procedure] : found) Send(key, std::move(procedure));
  return found.size();
}

// Reads descriptors that could not be read before; procedures that wait for them then continue.
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
  if (!begun) reading_schemas_ = false;  // the next sweep tries again
}

std::vector<std::string> Reconciler::Problems() const {
  std::vector<std::string> problems;
  for (const RegionNode& node : env_.regions.InTransition()) {
    if (!node.unplaced || node.owner.valid()) continue;
    problems.push_back(
        fmt::format("hbase:meta names no server for region {}: its location is recorded when a server reports the "
                    "region, and it is assigned when no server has it (ratchet reconcile)",
                    node.info.encoded_name()));
  }
  for (const TableNode& table : env_.tables.Unsettled()) {
    if (table.schema == nullptr) problems.push_back(table.schema_error);
  }
  for (std::string& problem : comparison_.Problems()) problems.push_back(std::move(problem));
  const std::map<std::string, std::size_t> kept = KeptEdits();
  constexpr std::size_t kShown = 10;
  std::size_t shown = 0;
  for (const auto& [encoded, files] : kept) {
    if (++shown > kShown) continue;
    const auto node = env_.regions.Get(encoded);
    const std::string advice =
        node ? fmt::format(
                   "restore the directory if it is missing: the region replays the edits at its next opening (if it is "
                   "open: ratchet put-back-edits {})",
                   encoded)
             : std::string("hbase:meta has no such region; remove that folder if it is not needed");
    problems.push_back(
        fmt::format("edits of region {}{} from {} logs are kept in quarantine/edits/{}, because the "
                    "region's directory was missing when the logs were split: {}",
                    encoded, node ? " of table " + node->info.table.ToString() : "", files, encoded, advice));
  }
  if (shown > kShown) problems.push_back(fmt::format("... and kept edits of {} more regions", shown - kShown));
  for (std::string& problem : survey_.Problems()) problems.push_back(std::move(problem));
  return problems;
}

bool Reconciler::Send(const std::string& key, procedure::ProcedurePtr procedure) {
  std::optional<ProcId> before;
  {
    const PartLock lock(mutex_);
    if (const auto sent = sent_.find(key); sent != sent_.end()) before = sent->second;
  }
  if (before && (!before->valid() || IsRunning(*before))) return false;
  {
    const PartLock lock(mutex_);
    const auto [sent, fresh] = sent_.try_emplace(key);
    if (!fresh && (!before || sent->second != *before)) return false;  // another thread was faster
    sent->second = ProcId();
  }
  env_.executor->SubmitAsync(std::move(procedure), {"master", {}, {}}, [this, key](const Result<ProcId>& pid) {
    const PartLock lock(mutex_);
    if (pid.ok()) {
      sent_[key] = *pid;
    } else {
      sent_.erase(key);
    }
  });
  return true;
}

bool Reconciler::IsRunning(ProcId pid) const {
  return env_.executor->GetResult(pid).status == procedure::ProcedureResult::Status::kRunning;
}

void Reconciler::ForgetSent() {
  std::map<std::string, ProcId> sent;
  if (RATCHET_MUTANT("reconciler.ask_under_lock")) {
    const PartLock lock(mutex_);
    std::erase_if(sent_, [this](const auto& each) { return each.second.valid() && !IsRunning(each.second); });
    return;
  }
  {
    const PartLock lock(mutex_);
    sent = sent_;
  }
  std::erase_if(sent, [this](const auto& each) { return !each.second.valid() || IsRunning(each.second); });
  const PartLock lock(mutex_);
  for (const auto& [key, ended] : sent) {
    const auto found = sent_.find(key);
    if (found != sent_.end() && found->second == ended) sent_.erase(found);
  }
}

void Reconciler::FreeSplitWorkers() {
  for (const ProcId holder : env_.split_workers.Holders()) {
    if (IsRunning(holder) || RATCHET_MUTANT("master.leak_split_places")) continue;
    if (!env_.split_workers.Release(holder)) continue;
    RATCHET_LOG(kWarn, "Reconciler: pid={} has ended with a slot for splitting a log: slot released", holder);
    env_.executor->Wake(SplitWorkers::FreeEvent());
  }
}

// Releases regions of ended owners: a procedure does so in its last step, unless an operator ended it before.
void Reconciler::DisownEnded() {
  std::string position = owned_position_.Get();
  const std::vector<RegionNode> owned = env_.regions.Owned(&position, kRegionsASweep);
  owned_position_.Set(std::move(position));
  for (const RegionNode& node : owned) {
    if (IsRunning(node.owner)) continue;
    const std::string& encoded = node.encoded;
    // The procedure may have ended and released the region since the copy was made.
    const auto present = env_.regions.Get(encoded);
    if (!present || present->owner != node.owner) continue;
    env_.regions.Disown(encoded, node.owner);
    env_.placement.Settled(encoded);  // release the placement reservation
    // A split or merge was ended before its commit: hbase:meta has no row of this region, and no rows depend on it.
    if (IsBeingMade(node.state)) env_.regions.Remove(encoded);
    const PartLock lock(mutex_);
    Note(node.location.value_or(ServerName{}), encoded,
         fmt::format("was {} under pid={}, which has ended: ownership released", RegionStateText(node.state),
                     node.owner));
  }
}

// Runs before hbase:meta is loaded, because the load itself waits for hbase:meta to be online.
void Reconciler::LookAfterMeta() {
  if (!env_.executor->FindUnfinished("InitMeta").empty()) return;
  const auto meta = env_.regions.Get(kMetaEncodedName);
  const std::string encoded(kMetaEncodedName);
  if (meta) {
    if (meta->owner.valid() || env_.clock.Now() - meta->last_update < options_.grace) return;
    if (meta->location) {
      if (!env_.servers.PhaseOf(*meta->location)) {
        return manager_.ExpireUnknown(*meta->location,
                                      "the record of hbase:meta's location names it, and the master does not know it");
      }
      switch (env_.servers.SettlementOf(*meta->location, /*meta=*/true)) {
        case SettlementState::kAwait: return;  // its crash procedure assigns hbase:meta first
        case SettlementState::kSettled: break;
        case SettlementState::kServes:
          if (meta->state == RegionState::kOpen) return;
          break;
      }
    }
  }
  const bool made = env_.executor->SystemRecords().contains(std::string(kMetaLocationRecord));
  if (!Send(encoded, made ? TransitRegionState::Assign(MetaRegionInfo(), {}) : InitMeta::Make())) return;
  const PartLock lock(mutex_);
  Note(meta ? meta->location.value_or(ServerName{}) : ServerName{}, encoded,
       made ? fmt::format("was {} and no procedure owned it: assigned",
                          meta ? RegionStateText(meta->state) : "not there")
            : std::string("was never created, and no procedure creates it: created"));
}

void Reconciler::AssignLeftBehind() {
  std::string position = unsettled_position_.Get();
  const std::vector<RegionNode> unsettled = env_.regions.Unsettled(&position, kRegionsASweep);
  unsettled_position_.Set(std::move(position));
  for (const RegionNode& node : unsettled) AssignIfLeftBehind(node);
  // Finds regions of disabled tables that are open without an owner.
  for (const TableName& table : env_.tables.Disabled()) {
    if (env_.regions.NotClosedOf(table) == 0) continue;
    for (const RegionNode& node : env_.regions.OfTable(table)) AssignIfLeftBehind(node);
  }
}

void Reconciler::AssignIfLeftBehind(const RegionNode& node) {
  if (env_.clock.Now() - node.last_update < options_.grace || !master::IsLeftBehind(env_, node)) return;
  if (node.unplaced && !watch_.AllHaveSaid(node)) return;
  // A running split or merge opens the regions that it has closed or made.
  if (IsOfAReshape(*env_.executor, node.info)) return;
  const auto table = env_.tables.Get(node.info.table);
  const bool disabled = table.has_value() && table->state == TableState::kDisabled;
  if (!Send(node.encoded, TransitRegionState::Assign(node.info, {}))) return;
  const PartLock lock(mutex_);
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
    const auto grant = env_.tables.LastLockGrant(table.name);
    const PartLock lock(mutex_);
    Note(
        {}, {},
        fmt::format("table {} was {} under {}, which has ended: {}", table.name.ToString(), TableStateText(table.state),
                    grant ? fmt::format("pid={}", grant->pid) : "a procedure", enable ? "enabled" : "disabled"));
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
      const PartLock lock(mutex_);
      Note(server, encoded, "has the region, but the master does not know the server: server expired");
    }
    manager_.ExpireUnknown(server, "hbase:meta names it as the server of a region, and the master does not know it");
  }
}

std::vector<ReconcilerFinding> Reconciler::Findings() const {
  const PartLock lock(mutex_);
  return findings_;
}

}  // namespace ratchet::master
