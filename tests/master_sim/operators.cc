#include "tests/master_sim/operators.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "master/requests/server_admin.h"
#include "master/requests/table_admin.h"
#include "procedure/api/lock_procedure.h"

namespace ratchet::simulation {

using procedure::PauseScope;
using procedure::ProcedureInfo;
using procedure::ResourceKey;

namespace {

const procedure::OperatorNote kNote{"sim", "chance"};
constexpr std::string_view kParkedBySim = "parked by sim";
constexpr std::size_t kDamagedAtMost = 2;  // damaged regions of a run
constexpr auto kIgnore = [](const Status&) {};

}  // namespace

std::vector<ProcedureInfo> Operators::Unfinished() {
  std::vector<ProcedureInfo> unfinished;
  for (ProcedureInfo& info : cluster_.master().executor().List()) {
    if (!procedure::IsTerminal(info.state)) unfinished.push_back(std::move(info));
  }
  return unfinished;
}

void Operators::Bypass(const ProcedureInfo& info) {
  const bool recursive = prng_.Chance(1, 2);
  cluster_.master().executor().Bypass(info.pid, recursive, kNote, kIgnore);
  // Counted at the request, because a dying master may have recorded it without an answer. The bypass of a child
  // includes its parent.
  bypassed_.insert(info.root);
  if (info.type == "MendTable") HalfRepaired(info);
  cluster_.Trace(
      fmt::format("bypass pid={} {}:{}{}", info.pid, info.type, info.step_name, recursive ? " recursive" : ""));
}

// A repair that is ended early leaves two regions with the same keys. An operator must give up one of the two regions
// (S84: give up a region by name).
void Operators::HalfRepaired(const ProcedureInfo& info) {
  bypassed_a_mend_ = true;
  const std::string_view region = info.description.Get("gives up region");
  if (!region.empty()) half_given_up_.insert(std::string(region));
}

void Operators::Aborting(const ProcedureInfo& info) {
  if (info.type == "DisableTable") bypassed_.insert(info.root);
}

void Operators::Rerun(const ProcedureInfo& info) {
  const auto step = static_cast<procedure::StepNo>(prng_.Between(1, 10));
  cluster_.master().executor().Rerun(info.pid, step, kNote, [this, pid = info.pid, step](const Status& status) {
    if (status.ok()) cluster_.Trace(fmt::format("rerun pid={} from state {}", pid, step));
  });
  bypassed_.insert(info.root);
}

void Operators::Park(const ProcedureInfo& info) {
  cluster_.Trace(fmt::format("park pid={} {}:{}", info.pid, info.type, info.step_name));
  cluster_.master().executor().Park(info.pid, kNote, kIgnore);
}

void Operators::Unpark() {
  for (const ProcedureInfo& info : Unfinished()) {
    if (!info.parked.starts_with(kParkedBySim) || prng_.Chance(1, 2)) continue;
    cluster_.Trace(fmt::format("unpark pid={}", info.pid));
    return cluster_.master().executor().Unpark(info.pid, kNote, kIgnore);
  }
}

ResourceKey Operators::AnyResource() {
  const std::string table = fmt::format("default:t{}", prng_.Below(3));
  const auto& regions = cluster_.meta().regions();
  switch (prng_.Below(6)) {
    case 0: return ResourceKey::Namespace("default");
    case 1:
      if (regions.empty()) return ResourceKey::Table(table);
      {
        const auto any = std::next(regions.begin(), static_cast<std::ptrdiff_t>(prng_.Below(regions.size())));
        return ResourceKey::Region(any->second.region.table.ToString(), any->first);
      }
    case 2: {
      const auto alive = cluster_.Alive();
      if (alive.empty()) return ResourceKey::Meta();
      return ResourceKey::Server(alive[prng_.Below(alive.size())]->name().ToString());
    }
    case 3: return ResourceKey::Meta();
    default: return ResourceKey::Table(table);
  }
}

PauseScope Operators::AnyScope(const ProcedureInfo* info) {
  static constexpr std::array kTypes = {"CreateTable",        "EnableTable",    "DisableTable",   "DeleteTable",
                                        "TransitRegionState", "OpenRegion",     "CloseRegion",    "ServerCrash",
                                        "SplitWal",           "SplitWalRemote", "RegisterServer", "MendTable"};
  switch (prng_.Below(8)) {
    case 0: return PauseScope::Everything();
    case 1: return PauseScope::Ordinary();
    case 2:
    case 3: return PauseScope::Type(kTypes.at(prng_.Below(kTypes.size())));
    case 4:
    case 5: return PauseScope::Resource(AnyResource());
    default: return info == nullptr ? PauseScope::Everything() : PauseScope::Procedure(info->pid);
  }
}

void Operators::Pause(const ProcedureInfo* info) {
  const PauseScope scope = AnyScope(info);
  cluster_.Trace("pause " + scope.ToString());
  cluster_.master().executor().Pause(scope, kNote, Millis(0), [](const auto&) {});
}

void Operators::Resume() {
  const auto pauses = cluster_.master().executor().Pauses();
  if (pauses.empty()) return;
  const PauseScope scope = pauses[prng_.Below(pauses.size())].scope;
  cluster_.Trace("resume " + scope.ToString());
  cluster_.master().executor().Resume(scope, kNote, kIgnore);
}

// Some holders die at once; then the time-out releases the lock.
void Operators::AcquireLock() {
  const auto mode = prng_.Chance(2, 3) ? procedure::LockMode::kExclusive : procedure::LockMode::kShared;
  ResourceKey key = AnyResource();
  using Kind = procedure::ResourceKind;
  if (key.kind != Kind::kNamespace && key.kind != Kind::kTable && key.kind != Kind::kRegion)
    return;  // the service does the same
  cluster_.Trace("lock " + key.ToString());
  procedure::SubmitOptions options;
  options.owner = "sim";
  options.nonce = {2, ++lock_nonce_};
  cluster_.master().executor().SubmitAsync(
      procedure::LockProcedure::Make({{std::move(key), mode}}, "sim", Millis(prng_.Between(300, 2'000))), options,
      [this, beats = prng_.Chance(1, 2)](const Result<ProcId>& pid) {
        if (pid.ok()) locks_[*pid] = {beats};
      });
}

void Operators::LetLockGo() {
  if (locks_.empty()) return;
  const auto any = std::next(locks_.begin(), static_cast<std::ptrdiff_t>(prng_.Below(locks_.size())));
  procedure::ReleaseLock(cluster_.master().executor(), any->first, kIgnore);
  any->second.beats = false;
}

// Damages the files of a region: no server opens the region until it is given up (S84).
void Operators::DamageRegion() {
  const auto& regions = cluster_.meta().regions();
  if (regions.empty() || cluster_.storage().damaged.size() >= kDamagedAtMost) return;
  const auto any = std::next(regions.begin(), static_cast<std::ptrdiff_t>(prng_.Below(regions.size())));
  cluster_.Trace("damage to the files of " + any->first);
  cluster_.storage().damaged.insert(any->first);
}

void Operators::GiveUp(const std::string& region) {
  cluster_.Trace("give up " + region);
  cluster_.master().logic().admin.GiveUpRegion(region, {"sim", {}}, [this, region](const Result<ProcId>& pid) {
    if (pid.ok()) cluster_.Trace(fmt::format("pid={} gives up {}", *pid, region));
  });
}

// Sometimes chooses an undamaged region; this is refused unless no server can have the region.
void Operators::GiveUpOne() {
  const auto& regions = cluster_.meta().regions();
  const auto& damaged = cluster_.storage().damaged;
  if (!damaged.empty() && prng_.Chance(3, 4)) {
    return GiveUp(*std::next(damaged.begin(), static_cast<std::ptrdiff_t>(prng_.Below(damaged.size()))));
  }
  if (!regions.empty())
    GiveUp(std::next(regions.begin(), static_cast<std::ptrdiff_t>(prng_.Below(regions.size())))->first);
}

void Operators::FillHoles() {
  const TableName table("default", fmt::format("t{}", prng_.Below(3)));
  cluster_.Trace("fill holes of " + table.ToString());
  cluster_.master().logic().admin.FillHoles(table, {"sim", {}}, [](const Result<ProcId>&) {});
}

void Operators::GiveUpTheRest() {
  for (const ProcedureInfo& info : Unfinished()) {
    // Repairs run one after the other, because they wait for the same lock. A repair that waits for its new regions has
    // released the lock, and one of these regions may be damaged too.
    if (info.type == "MendTable" && info.state != procedure::ProcState::kWaiting) return;
  }
  std::set<std::string> rest = cluster_.storage().damaged;
  rest.insert(half_given_up_.begin(), half_given_up_.end());
  for (const std::string& region : rest) {
    if (cluster_.meta().regions().contains(region)) GiveUp(region);
  }
}

void Operators::Beat() {
  sim::SimMaster& master = cluster_.master();
  if (master.dead() || master.deposed()) return;
  for (const auto& [pid, lock] : locks_) {
    if (lock.beats) (void)procedure::BeatLock(master.executor(), pid);
  }
}

void Operators::GoHome() {
  sim::SimMaster& master = cluster_.master();
  cluster_.start_paused = false;
  if (master.dead() || master.deposed()) return;
  for (auto& [pid, lock] : locks_) {
    if (lock.beats) procedure::ReleaseLock(master.executor(), pid, kIgnore);
    lock.beats = false;
  }
  for (const auto& pause : master.executor().Pauses()) master.executor().Resume(pause.scope, kNote, kIgnore);
  for (const ProcedureInfo& info : Unfinished()) {
    if (info.parked.starts_with(kParkedBySim)) master.executor().Unpark(info.pid, kNote, kIgnore);
  }
  if (!master.ready()) return;
  GiveUpTheRest();
  for (const ServerName& marked : master.logic().decommissions.Marked()) {
    master.logic().server_admin.Recommission(marked, {}, {"sim", {}}, [](const Result<ProcId>&) {});
  }
}

void Operators::Act() {
  sim::SimMaster& master = cluster_.master();
  if (master.dead() || master.deposed()) return;
  const std::vector<ProcedureInfo> unfinished = Unfinished();
  const ProcedureInfo* any = unfinished.empty() ? nullptr : &unfinished[prng_.Below(unfinished.size())];
  ++verbs_;
  switch (prng_.Below(19)) {
    case 0: return Pause(any);
    case 1:
    case 2:
    case 3: return Resume();
    case 4: return AcquireLock();
    case 5: return LetLockGo();
    case 6: return Unpark();
    case 7:
      cluster_.start_paused = true;  // applies to the next master
      return;
    case 8: return DamageRegion();
    case 9:
      if (master.ready()) GiveUpOne();
      return;
    case 10:
      if (master.ready()) FillHoles();
      return;
    default: break;
  }
  if (any == nullptr) return;
  switch (prng_.Below(6)) {
    case 0:
      cluster_.Trace(fmt::format("abort pid={}", any->pid));
      Aborting(*any);
      return master.executor().Abort(any->pid, kNote, kIgnore);  // may be too late
    case 1: return Park(*any);
    case 2: return Unpark();
    case 3: return Rerun(*any);
    default: return Bypass(*any);
  }
}

}  // namespace ratchet::simulation
