// Operators in the simulation, and the periods in which turns are checked.
#include <algorithm>
#include <array>
#include <map>

#include "procedure/api/lock_procedure.h"
#include "tests/procedure_sim/life.h"

namespace ratchet::sim {

using procedure::OperatorNote;
using procedure::PauseReport;
using procedure::PauseScope;
using procedure::ProcedureInfo;
using procedure::ResourceKey;
using procedure::WaitingOn;

namespace {

const OperatorNote kNote{"sim", "chance"};
constexpr auto kIgnore = [](const Status&) {};

procedure::ProcedurePtr CopyOf(const ProcedureInfo& info) {
  if (info.type == procedure::LockProcedure::kTypeName) {
    auto lock = std::make_unique<procedure::LockProcedure>();
    (void)lock->ParseData(info.data);
    return lock;
  }
  testing::pb::Script script;
  script.ParseFromString(info.data);
  return testing::MakeScript(script);
}

}  // namespace

bool Simulation::IsUrgent(ProcId pid) const {
  for (auto info = life_->executor.Get(pid); info; info = life_->executor.Get(info->parent)) {
    if (procedure::PlaceOf(*CopyOf(*info), {}).urgent) return true;
  }
  return false;
}

PauseScope Simulation::RandomScope(ProcId pid) {
  static constexpr std::array kTypes = {"ScriptUndo", "ScriptPlain", "ScriptMixed", "ScriptNoReturn"};
  switch (prng_.Below(8)) {
    case 0: return PauseScope::Everything();
    case 1: return PauseScope::Ordinary();
    case 2:
    case 3: return PauseScope::Type(kTypes.at(prng_.Below(kTypes.size())));
    case 4: return PauseScope::Resource(ResourceKey::Table(prng_.Chance(1, 2) ? "a" : "b"));
    case 5: return PauseScope::Resource(ResourceKey::Server(prng_.Chance(1, 2) ? "a" : "b"));
    default: return PauseScope::Procedure(pid);
  }
}

void Simulation::PauseSomething(ProcId pid) {
  const PauseScope scope = RandomScope(pid);
  // A step that waits for its own work runs until that has ended.
  constexpr Millis kPatience{60'000};
  life_->executor.Pause(scope, kNote, kPatience,
                        [this, scope, ticket = holds_.Ticket()](const Result<PauseReport>& answer) {
                          if (!answer.ok()) return;
                          if (!answer->running.empty()) return;  // the master stops, or the patience has ended
                          holds_.Paused(ticket, scope);
                          ++summary_.pauses;
                        });
}

void Simulation::ResumeSomething() {
  const auto pauses = life_->executor.Pauses();
  if (pauses.empty()) return;
  const PauseScope scope = pauses.at(prng_.Below(pauses.size())).scope;
  holds_.Resuming(scope);
  life_->executor.Resume(scope, kNote, kIgnore);
}

// Applies at once; the record follows, so the next master either has the pause or does not know of it.
void Simulation::StartsPaused(bool paused) {
  const auto pauses = life_->executor.Pauses();
  const bool everything = std::any_of(pauses.begin(), pauses.end(),
                                      [](const auto& pause) { return pause.scope == PauseScope::Everything(); });
  if (started_paused_ && !everything) holds_.Resuming(PauseScope::Everything());
  started_paused_ = paused;
  if (!paused) return;
  ++summary_.starts_paused;
  if (!everything) checkers_.Violation("pause: a master that was to start paused is not");
  holds_.Paused(holds_.Ticket(), PauseScope::Everything());
}

void Simulation::Rerun(Tree& tree, ProcId pid) {
  checkers_.OnRerun(tree.pid);
  holds_.LettingGo(tree.pid);
  life_->executor.Rerun(pid, static_cast<procedure::StepNo>(prng_.Between(1, 6)), kNote, [this](const Status& status) {
    if (status.ok()) ++summary_.reruns;
  });
}

void Simulation::Bypass(Tree& tree, ProcId pid) {
  tree.bypassed = true;
  checkers_.OnBypass(tree.pid);
  holds_.LettingGo(tree.pid);
  life_->executor.Bypass(pid, prng_.Chance(1, 2), kNote, [this](const Status& status) {
    if (status.ok()) ++summary_.bypasses;
  });
}

void Simulation::Park(const Tree& tree, ProcId pid) {
  life_->executor.Park(pid, kNote, [this, pid, root = tree.pid, ticket = holds_.Ticket()](const Status& status) {
    if (status.ok()) holds_.Parked(ticket, pid, root);
  });
}

// Takes a lock for an external holder, which sends heartbeats for a while, or none.
void Simulation::LockMove() {
  const std::vector<ProcId> locks = life_->executor.FindUnfinished(procedure::LockProcedure::kTypeName);
  if (!locks.empty() && prng_.Chance(2, 3)) {
    const ProcId pid = locks.at(prng_.Below(locks.size()));
    if (prng_.Chance(1, 2)) return procedure::ReleaseLock(life_->executor, pid, kIgnore);
    (void)procedure::BeatLock(life_->executor, pid);
    return;
  }
  const auto mode = prng_.Chance(1, 2) ? procedure::LockMode::kExclusive : procedure::LockMode::kShared;
  const std::string name = prng_.Chance(1, 2) ? "a" : "b";
  procedure::SubmitOptions options;
  options.owner = "sim";
  ++summary_.user_locks;
  life_->executor.SubmitAsync(
      procedure::LockProcedure::Make({{ResourceKey::Table(name), mode}}, "sim", Millis(prng_.Between(20, 2'000))),
      options, [](const Result<ProcId>&) {});
}

// Returns a violation if `by` acts on a resource of such a holder; otherwise empty.
std::string Simulation::WhoseLock(const procedure::Procedure& by) const {
  for (const ProcId pid : life_->executor.FindUnfinished(procedure::LockProcedure::kTypeName)) {
    const auto info = life_->executor.Get(pid);
    if (!info || info->locks.empty() || info->waiting.kind == WaitingOn::Kind::kCommit) continue;
    const auto theirs = CopyOf(*info)->Locks().Expanded();
    for (const procedure::LockRequest& mine : by.Locks().Expanded()) {
      for (const procedure::LockRequest& other : theirs) {
        const bool excludes =
            mine.mode == procedure::LockMode::kExclusive || other.mode == procedure::LockMode::kExclusive;
        if (mine.key == other.key && excludes) {
          return fmt::format("exclusion: pid {} acts on {}, which pid {} holds", by.pid(), mine.key.ToString(), pid);
        }
      }
    }
  }
  return {};
}

void Simulation::OperatorMove() {
  if (prng_.Chance(1, 10)) return LockMove();
  Tree* tree = RandomLiveTree();
  if (tree == nullptr) return;
  std::vector<ProcId> members;
  for (const ProcedureInfo& info : life_->executor.List()) {
    if (info.root == tree->pid && !IsTerminal(info.state)) members.push_back(info.pid);
  }
  if (members.empty()) return;
  const ProcId pid = members.at(prng_.Below(members.size()));
  ++summary_.verbs;
  switch (prng_.Below(20)) {
    case 0:
      tree->aborted = true;
      holds_.LettingGo(tree->pid);
      life_->executor.Abort(pid, kNote, kIgnore);
      return;
    case 1:
    case 2:
    case 3: Park(*tree, pid); return;
    case 4: life_->executor.Kick(pid); return;
    case 5:
    case 14: Bypass(*tree, pid); return;
    case 6:
    case 7: Rerun(*tree, pid); return;
    case 8:
    case 9: PauseSomething(pid); return;
    case 10:
    case 11:
    case 12:
    case 13: ResumeSomething(); return;
    default: holds_.LettingGo(tree->pid); life_->executor.Unpark(pid, kNote, kIgnore);
  }
}

// Releases all holds of operators.
void Simulation::LetEverythingGo() {
  for (const ProcId pid : life_->executor.FindUnfinished(procedure::LockProcedure::kTypeName)) {
    procedure::ReleaseLock(life_->executor, pid, kIgnore);
  }
  for (const auto& pause : life_->executor.Pauses()) {
    holds_.Resuming(pause.scope);
    life_->executor.Resume(pause.scope, kNote, kIgnore);
  }
  for (const ProcedureInfo& info : life_->executor.List()) {
    if (info.parked.empty() || IsTerminal(info.state)) continue;
    holds_.LettingGo(info.root);
    life_->executor.Unpark(info.pid, kNote, kIgnore);
  }
}

// Completes all commits, so that many procedures can run; then runs them without other events.
void Simulation::TurnsCheck() {
  while (life_->store->Pump()) {
  }
  // the checker does not see turns of lock procedures
  if (!life_->executor.FindUnfinished(procedure::LockProcedure::kTypeName).empty()) return;
  turns_.emplace();
  std::map<ProcId, bool> urgent;  // inherited; parents come first
  for (const ProcedureInfo& info : life_->executor.List()) {
    const bool waits = info.state == procedure::ProcState::kRunnable && !info.failing && !info.running &&
                       info.waiting.kind == WaitingOn::Kind::kNone;
    const procedure::ProcedurePtr copy = CopyOf(info);
    const procedure::SchedulingPlace place = procedure::PlaceOf(*copy, {});
    urgent[info.pid] = place.urgent || (info.parent.valid() && urgent[info.parent]);
    turns_->Stands(info.pid, place, urgent[info.pid], waits);
  }
  if (turns_->queues() > 1) ++summary_.turns;
  while (life_->workers.RunOne()) {
  }
  turns_.reset();
}

}  // namespace ratchet::sim
