// Checks while no procedure runs: lost wake-ups, cycles of waits, memory compared with reloaded state.
#include <algorithm>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "procedure/api/lock_procedure.h"
#include "tests/procedure_sim/life.h"

namespace ratchet::sim {

using procedure::Executor;
using procedure::ProcedureInfo;
using procedure::WaitingOn;
using testing::pb::Script;
using testing::pb::ScriptOp;

namespace {

Script ScriptOfInfo(const ProcedureInfo& info) {
  Script script;
  script.ParseFromString(info.data);
  return script;
}

std::string Fingerprint(const Executor& executor) {
  const std::vector<ProcedureInfo> all = executor.List();
  std::unordered_set<ProcId> parents;  // of unfinished procedures
  for (const ProcedureInfo& info : all) {
    if (!IsTerminal(info.state)) parents.insert(info.parent);
  }
  std::string text;
  for (const ProcedureInfo& info : all) {
    // A wait is evaluated again after a load; everything else must be equal. A member of a failing tree may still be
    // shown as waiting for children that have all ended, because a step in progress holds up the tree's undo.
    const bool waits = info.state == procedure::ProcState::kWaitingTimeout ||
                       (info.failing && info.state == procedure::ProcState::kWaiting && !parents.contains(info.pid));
    text += fmt::format("{} {} {}:{} v{} {}{} nonce {} parked '{}' error '{}' result '{}' undo", info.pid, info.type,
                        waits ? "RUNNABLE" : ProcStateName(info.state), info.step, info.version,
                        info.past_no_return ? "past" : "-", info.failing ? " failing" : "", info.nonce, info.parked,
                        info.error ? info.error->ToString() : "", info.result);
    for (const auto& entry : info.undo) text += fmt::format(" {}@{}", entry.step, entry.order);
    text += fmt::format(" data={}\n", info.data);
  }
  return text;
}

// Pauses of procedures end with the procedures.
std::string PausesText(const Executor& executor) {
  std::set<std::string> all;
  for (const auto& pause : executor.Pauses()) {
    if (pause.scope.kind != procedure::PauseScope::Kind::kProcedure) all.insert(pause.ToString());
  }
  std::string text;
  for (const std::string& pause : all) text += pause + "\n";
  return text;
}

}  // namespace

void Simulation::RunUntilQuiet() {
  for (int i = 0; life_->workers.RunOne() || life_->store->Pump(); ++i) {
    if (i == 1'000'000) {
      checkers_.Violation("no rest: a million steps and commits without a pause");
      return;
    }
  }
}

std::string Simulation::WhyLost(const ProcedureInfo& info) const {
  using Kind = WaitingOn::Kind;
  const Script script = ScriptOfInfo(info);
  const ScriptOp op =
      static_cast<int>(info.step) <= script.ops_size() ? script.ops(static_cast<int>(info.step) - 1) : ScriptOp();
  const std::string effect = fmt::format("{}{}", script.name(), info.step);
  switch (info.waiting.kind) {
    case Kind::kNone: return "could run, but nobody runs it";
    case Kind::kCommit: return "waits for a commit, but none is in flight";
    case Kind::kEvent:
      if (op.kind() == ScriptOp::AWAIT_EVENT && journal_.Seen("event:" + op.text())) return "its event has happened";
      if (op.kind() == ScriptOp::AWAIT_EVENT && op.number() > 0 && !info.waiting.next_try_in)
        return "its time-out has no timer";
      if (op.kind() == ScriptOp::AWAIT_REPORT && script.absorbed_size() > 0) return "its report was taken";
      return {};
    case Kind::kAsync:
      if (info.type == procedure::LockProcedure::kTypeName)
        return info.waiting.next_try_in ? "" : "its time-out has no timer";
      return journal_.AsyncPending(effect) || journal_.AsyncPending(info.waiting.detail)
                 ? ""
                 : "its asynchronous work has ended";
    case Kind::kRetry: return info.waiting.next_try_in ? "" : "its retry has no timer";
    case Kind::kLock:
    case Kind::kChildren: return info.waiting.procedures.empty() ? "what it waits for is free" : "";
    case Kind::kOperator: return {};  // checked at the end: no procedure may stay parked
    case Kind::kPaused: return {};
    case Kind::kSiblings: return {};  // below
    case Kind::kLimit: return "is held back by a limit, but nothing runs";
  }
  return {};
}

void Simulation::QuietCheck() {
  RunUntilQuiet();
  if (Failed()) return;
  ++summary_.quiet_checks;
  const std::vector<ProcedureInfo> all = life_->executor.List();
  std::unordered_set<ProcId> failing;
  std::unordered_set<ProcId> moving;
  std::unordered_set<ProcId> in_progress;  // roots of members whose step or undo waits for its own work
  for (const ProcedureInfo& info : all) {
    if (info.waiting.kind == WaitingOn::Kind::kAsync) moving.insert(info.root);
    if (info.waiting.own) in_progress.insert(info.root);
  }
  for (const ProcedureInfo& info : all) {
    if (IsTerminal(info.state)) continue;
    const bool will_go_on = info.waiting.kind == WaitingOn::Kind::kRetry && info.waiting.next_try_in;
    if (info.failing) failing.insert(info.root);
    if (info.failing && (will_go_on || info.waiting.kind == WaitingOn::Kind::kOperator)) moving.insert(info.root);
    if (info.waiting.kind == WaitingOn::Kind::kLock) ++summary_.lock_waits;
    if (info.failing && !info.parent.valid()) continue;             // shown as waiting for its children's undo
    if (info.failing && in_progress.contains(info.root)) continue;  // the undo of its tree begins after that
    if (const std::string why = WhyLost(info); !why.empty()) {
      checkers_.Violation(fmt::format("lost wake-up: pid {} {} {}:{} waits for {} {}, but {}", info.pid, info.type,
                                      ProcStateName(info.state), info.step_name, WaitingKindName(info.waiting.kind),
                                      info.waiting.detail, why));
    }
  }
  // A succeeded child whose undo is in its backoff keeps its tree moving, too.
  for (const ProcedureInfo& info : all) {
    if (info.failing && info.waiting.next_try_in) moving.insert(info.root);
  }
  const bool paused = !life_->executor.Pauses().empty();
  for (const ProcId root : failing) {
    if (paused || moving.contains(root)) continue;
    checkers_.Violation(fmt::format("lost wake-up: pid {} is being undone, but no step continues it", root));
  }
  if (const procedure::WaitForGraph graph = life_->executor.WaitFor(); !graph.cycles.empty()) {
    checkers_.Violation("deadlock: procedures wait for each other: " + graph.Chain(graph.cycles.front().front()));
  }
}

void Simulation::CompareWithReload() {
  RunUntilQuiet();
  const std::unique_ptr<Medium> copy = medium_->Copy();
  ++summary_.comparisons;
  testing::Journal nobody;
  Life other(*copy, registry_, nobody, 1, false);
  const Result<Epoch> epoch = other.executor.Recover();
  if (!epoch.ok()) {
    checkers_.Violation("reload: " + epoch.error().ToString());
    return;
  }
  if (PausesText(life_->executor) != PausesText(other.executor)) {
    checkers_.Violation("memory: pauses differ from a reload's: " + PausesText(life_->executor) + "and " +
                        PausesText(other.executor));
  }
  const std::string memory = Fingerprint(life_->executor);
  const std::string loaded = Fingerprint(other.executor);
  for (const Tree& tree : trees_) {
    const procedure::Nonce nonce{1, tree.nonce};
    if (tree.pid.valid() && life_->executor.FindNonce(nonce) != other.executor.FindNonce(nonce)) {
      checkers_.Violation(
          fmt::format("memory: nonce {} of pid {} is known only on one side of a reload", tree.nonce, tree.pid));
    }
  }
  Prng unused(1);
  other.store->PowerFailure(CrashPhase::kBeforeWrite, unused);
  if (memory != loaded) checkers_.Violation("memory: differs from a reload:\n" + memory + "--- reloaded:\n" + loaded);
}

// S7 (seal before acting), S10 (low-water record before removal): damage below an accepted length, or of a complete
// record, is refused with the file's name; a torn tail is cut and reported.
void Simulation::DamageCheck() {
  RunUntilQuiet();
  std::string what;
  const std::unique_ptr<Medium> copy = medium_->DamagedCopy(prng_, what);
  if (copy == nullptr || what.empty()) return;
  ++summary_.damages;
  testing::Journal nobody;
  Life other(*copy, registry_, nobody, 1, false);
  const Result<Epoch> epoch = other.executor.Recover();
  if (!epoch.ok()) {
    ++summary_.damages_refused;
    if (epoch.error().message().find("segment") == std::string::npos) {
      checkers_.Violation("damage: " + what + " is refused without a name: " + epoch.error().ToString());
    }
  } else if (!what.ends_with("cut") && Fingerprint(life_->executor) != Fingerprint(other.executor) &&
             other.executor.LoadProblems().empty()) {  // a file that ends between two records shows no damage
    checkers_.Violation("damage: " + what + " costs records, and nothing is said");
  }
  Prng unused(1);
  other.store->PowerFailure(CrashPhase::kBeforeWrite, unused);
}

}  // namespace ratchet::sim
