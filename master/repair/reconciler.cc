#include "master/repair/reconciler.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/part_lock.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/master_env.h"
#include "master/repair/catalog_janitor.h"
#include "master/requests/server_manager.h"

namespace ratchet::master {

Reconciler::Reconciler(MasterEnv& env, ServerManager& manager, ReconcilerOptions options)
    : env_(env),
      manager_(manager),
      options_(options),
      runner_(env, manager),
      watch_(env, options),
      comparison_(env, options.grace,
                  [this](const std::string& encoded, std::string what) {
                    runner_.Note({{}, encoded, std::move(what)});
                  }),
      survey_(env, [this](const std::string& encoded, std::string what) {
        runner_.Note({{}, encoded, std::move(what)});
      }) {}

void Reconciler::OnHeartbeat(const ServerName& server, std::vector<OnlineRegion> online) {
  RegionList list;
  list.open = std::move(online);
  static_cast<void>(OnHeartbeat(server, list));
}

std::uint64_t Reconciler::OnHeartbeat(const ServerName& server, const RegionList& list) {
  OnlineWatch::Findings found = watch_.Look(server, list);
  for (auto& [encoded, what] : found.notes) runner_.Note({server, encoded, std::move(what)});
  if (!found.expire.empty()) {
    manager_.Expire(server, found.expire);
    return found.number;
  }
  // A close order for a region that the server does not have is answered (S20: answers are repeated); opening the
  // region again repairs it.
  for (const RegionNode& node : found.missing) {
    std::vector<Repair> repairs;
    repairs.emplace_back(SubmitProcedure{node.encoded,
                                         TransitRegionState::Reopen(node.info),
                                         {server, node.encoded, "is no longer open there: opened again"}});
    // Marks the node as changed, so that it is not judged again for a while.
    if (runner_.Run(std::move(repairs)) > 0) env_.regions.Update(node.encoded, [](RegionNode&) {});
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
  runner_.ForgetEnded();
  SweepPositions positions;
  {
    const PartLock lock(mutex_);
    positions = positions_;
  }
  const SweepSnapshot snapshot = TakeSweepSnapshot(env_, watch_, options_.grace, &positions);
  {
    const PartLock lock(mutex_);
    positions_ = positions;
  }
  runner_.Run(Diff(snapshot));
  if (env_.meta_loaded.load()) RemoveGarbage();
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
  std::string position;
  {
    const PartLock lock(mutex_);
    position = garbage_position_;
  }
  std::vector<Repair> found = FindGarbage(TakeRemains(env_, &position, kAtATime));
  {
    const PartLock lock(mutex_);
    garbage_position_ = std::move(position);
  }
  const std::size_t count = found.size();
  runner_.Run(std::move(found));
  return count;
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

}  // namespace ratchet::master
