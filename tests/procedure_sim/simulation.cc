#include "tests/procedure_sim/simulation.h"

#include <algorithm>

#include <fmt/format.h>

#include "procedure/api/lock_procedure.h"
#include "tests/procedure_sim/life.h"
#include "tests/support/hang_guard.h"

namespace ratchet::sim {

using procedure::Absorbed;
using procedure::ProcedureInfo;
using procedure::ProcedureResult;

namespace {

class Listener final : public procedure::ProcedureListener {
 public:
  explicit Listener(Checkers& checkers) : checkers_(checkers) {}
  void OnFinished(const ProcedureInfo& info) override { checkers_.OnFinished(info); }

 private:
  Checkers& checkers_;
};

std::uint64_t OneOf(Prng& prng, std::initializer_list<std::uint64_t> values) {
  return *(values.begin() + static_cast<std::ptrdiff_t>(prng.Below(values.size())));
}

}  // namespace

std::uint64_t SimSummary::AllCrashes() const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : crashes) all += count;
  return all;
}

void SimSummary::Add(const SimSummary& other) {
  moves += other.moves;
  submitted += other.submitted;
  succeeded += other.succeeded;
  undone += other.undone;
  for (std::size_t i = 0; i < crashes.size(); ++i) crashes[i] += other.crashes[i];
  comparisons += other.comparisons;
  quiet_checks += other.quiet_checks;
  time_outs += other.time_outs;
  lock_waits += other.lock_waits;
  undo_steps += other.undo_steps;
  reports += other.reports;
  wakes += other.wakes;
  verbs += other.verbs;
  pauses += other.pauses;
  user_locks += other.user_locks;
  starts_paused += other.starts_paused;
  damages += other.damages;
  damages_refused += other.damages_refused;
  reruns += other.reruns;
  bypasses += other.bypasses;
  turns += other.turns;
  violations.insert(violations.end(), other.violations.begin(), other.violations.end());
}

Simulation::Simulation(const SimOptions& options)
    : options_(options),
      prng_(options.seed),
      medium_(options.wal ? MakeWalMedium() : MakeMemoryMedium()),
      checkers_([this](ProcId root) {
        const auto info = life_->executor.Get(root);
        return !info || info->past_no_return;
      }) {
  crash_one_in_ = options_.crash_one_in != 0 ? options_.crash_one_in : OneOf(prng_, {4, 6, 8, 12});
  max_live_ = options_.max_live != 0 ? options_.max_live : OneOf(prng_, {3, 4, 6, 8});
  testing::RegisterScripts(registry_);
  registry_.Register<procedure::LockProcedure>();
  journal_.SetLogging(false);
  journal_.SetObserver(
      [this](char sign, const std::string& effect, const procedure::Procedure& by) { Observe(sign, effect, by); });
  NewLife();
}

Simulation::~Simulation() { life_->store->PowerFailure(CrashPhase::kBeforeWrite, prng_); }

void Simulation::Observe(char sign, const std::string& effect, const procedure::Procedure& by) {
  if (sign == 's' || sign == 'u' || sign == 'c') {
    if (std::string why = WhoseLock(by); !why.empty()) checkers_.Violation(std::move(why));
    if (sign == 'c') return;  // neither a pause nor its place in the queue stops a step in progress
    if (std::string why = holds_.OnBegin(sign, by, [&] { return IsUrgent(by.pid()); }); !why.empty())
      checkers_.Violation(std::move(why));
    if (turns_) {
      if (std::string why = turns_->OnRun(by.pid()); !why.empty()) checkers_.Violation(std::move(why));
    }
    return;
  }
  if (sign == '?') asking_.insert(by.pid());
  if (sign == 't') ++summary_.time_outs;
  if (sign == '-') ++summary_.undo_steps;
  checkers_.OnEffect(sign, effect, by);
}

// Returns false if the new master died during the load.
bool Simulation::Load() {
  journal_.ForgetAsync();
  life_.reset();
  const bool paused = !draining_ && prng_.Chance(1, 64);
  life_ = std::make_unique<Life>(*medium_, registry_, journal_, prng_.Next(), options_.trace, paused);
  life_->executor.AddListener(std::make_shared<Listener>(checkers_));
  const bool doomed = options_.wal && prng_.Chance(1, 8);
  if (doomed) life_->store->DieInClaim(prng_.Below(12));
  const Result<Epoch> epoch = life_->executor.Recover();
  if (!epoch.ok()) {
    if (!doomed) {
      checkers_.Violation("load: " + epoch.error().ToString());
      return true;
    }
    life_->store->PowerFailure(CrashPhase::kWritten, prng_);
    ++summary_.crashes[static_cast<std::size_t>(CrashPhase::kLoading)];
    return false;
  }
  StartsPaused(paused);
  for (const std::string& problem : life_->executor.LoadProblems()) {
    if (problem.find("is parked") != std::string::npos)
      checkers_.Violation("load: " + problem);  // not for a torn tail that was cut
  }
  std::unordered_set<ProcId> unfinished;
  for (const char* type : {"ScriptUndo", "ScriptPlain", "ScriptMixed", "ScriptNoReturn"}) {
    for (const ProcId pid : life_->executor.FindUnfinished(type)) unfinished.insert(pid);
  }
  checkers_.OnReload(unfinished, life_->executor.SystemRecords());
  if (!unfinished.empty() && prng_.Chance(1, 12)) {
    life_->store->PowerFailure(CrashPhase::kWritten, prng_);
    ++summary_.crashes[static_cast<std::size_t>(CrashPhase::kLoading)];
    return false;
  }
  life_->executor.Start();
  return true;
}

void Simulation::NewLife() {
  while (!Load()) {
  }
  CheckAcknowledged();
  for (const ProcId pid : acked_) life_->executor.Ack(pid);
  // Clients without an answer repeat their requests.
  for (const Tree& tree : trees_) {
    if (!tree.pid.valid()) SubmitTree(tree);
  }
}

// S11 (one commit per pid): checks that acknowledged changes are durable.
void Simulation::CheckAcknowledged() {
  for (const ProcId pid : reported_in_this_life_) {
    const auto info = life_->executor.Get(pid);
    if (!info || IsTerminal(info->state)) continue;
    testing::pb::Script script;
    script.ParseFromString(info->data);
    if (script.absorbed_size() == 0) {
      checkers_.Violation(fmt::format("acknowledged: the report to pid {} was taken, but is lost", pid));
    }
  }
  reported_in_this_life_.clear();
}

void Simulation::StartTree() {
  Tree tree;
  tree.name = fmt::format("T{}.", ++names_);
  tree.random = RandomTree(prng_, tree.name);
  tree.nonce = names_;
  for (const std::string& effect : tree.random.undo_failures) {
    journal_.FailUndo(effect, static_cast<int>(prng_.Between(1, 2)));
  }
  ++summary_.submitted;
  trees_.push_back(std::move(tree));
  SubmitTree(trees_.back());
}

void Simulation::SubmitTree(const Tree& tree) {
  procedure::SubmitOptions options;
  options.owner = "sim";
  options.nonce = {1, tree.nonce};
  const std::uint64_t nonce = tree.nonce;
  life_->executor.SubmitAsync(testing::MakeScript(tree.random.script), options,
                              [this, nonce](const Result<ProcId>& pid) {
                                for (Tree& known : trees_) {
                                  if (known.nonce != nonce) continue;
                                  if (!pid.ok()) {
                                    checkers_.Violation("nonces: a submission was refused: " + pid.error().ToString());
                                    continue;
                                  }
                                  checkers_.OnNonce(nonce, *pid);
                                  known.pid = *pid;
                                }
                              });
}

void Simulation::Crash() {
  StoreDouble& store = *life_->store;
  if (store.in_flight() == 0) return;
  CrashPhase phase = static_cast<CrashPhase>(prng_.Below(4));
  if (phase == CrashPhase::kPublished) store.Pump();
  const CrashPhase counted = checkers_.Undoing() ? CrashPhase::kUndoing : phase;
  ++summary_.crashes[static_cast<std::size_t>(counted)];
  store.PowerFailure(phase, prng_);
  if (!store.violation().empty()) checkers_.Violation(store.violation());
  NewLife();
}

void Simulation::JudgeEnd(Tree& tree, const ProcedureResult& result) {
  const bool success = result.status == ProcedureResult::Status::kSuccess;
  ++(success ? summary_.succeeded : summary_.undone);
  const std::string why = success ? "" : result.error->ToString();
  // The procedure was refused because of its locks (S15: total lock order), or aborted to resolve a deadlock.
  const bool by_locks = why.find("lock order") != std::string::npos || why.find("lock manager") != std::string::npos;
  if (!success && !tree.random.may_fail && !tree.aborted && !by_locks) {
    checkers_.Violation(fmt::format("result: pid {} failed without a cause: {}", tree.pid, why));
  }
  checkers_.OnTreeEnd(tree.pid, tree.name, success, journal_);
  medium_->ForgetSystemRecords(tree.name);
  life_->executor.Ack(tree.pid);
  acked_.push_back(tree.pid);
}

void Simulation::JudgeFinished() {
  for (std::size_t i = 0; i < trees_.size();) {
    Tree& tree = trees_[i];
    const ProcedureResult result = tree.pid.valid() ? life_->executor.GetResult(tree.pid) : ProcedureResult{};
    checkers_.OnResult(tree.pid, result);
    if (tree.pid.valid() && result.status == ProcedureResult::Status::kNotFound) {
      checkers_.Violation(fmt::format("result: pid {} is forgotten before its result was taken", tree.pid));
      return;
    }
    if (!result.finished()) {
      ++i;
      continue;
    }
    SubmitTree(tree);  // repeated with its nonce
    JudgeEnd(tree, result);
    trees_.erase(trees_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::erase_if(acked_, [this](ProcId pid) {
    return life_->executor.GetResult(pid).status == ProcedureResult::Status::kNotFound;
  });
}

Simulation::Tree* Simulation::RandomLiveTree() {
  if (trees_.empty()) return nullptr;
  Tree& tree = trees_[prng_.Below(trees_.size())];
  return tree.pid.valid() ? &tree : nullptr;
}

// Sends a report to a procedure that waits for it, until it is acknowledged, and never afterwards.
bool Simulation::Report() {
  if (asking_.empty()) return false;
  const ProcId pid = *asking_.begin();
  asking_.erase(asking_.begin());
  if (reported_.contains(pid)) return true;
  life_->executor.Deliver(pid, "report", [this, pid](const Result<Absorbed>& answer) {
    if (!answer.ok() || !answer->taken()) return;
    ++summary_.reports;
    reported_.insert(pid);
    reported_in_this_life_.push_back(pid);
  });
  return true;
}

// An external event: the end of asynchronous work, an event (once), a report.
bool Simulation::WorldMove() {
  if (prng_.Chance(1, 3) && journal_.FinishAsync()) return true;
  if (prng_.Chance(1, 2) && Report()) return true;
  Tree* tree = RandomLiveTree();
  if (tree == nullptr || tree->random.events.empty()) return false;
  const std::string event = tree->random.events.back();
  tree->random.events.pop_back();
  journal_.FirstTime("event:" + event);
  life_->executor.Wake({event});
  ++summary_.wakes;
  return true;
}

void Simulation::Move() {
  if (prng_.Chance(1, crash_one_in_)) {
    Crash();
    return;
  }
  switch (prng_.Below(32)) {
    case 0:
    case 1:
    case 2:
      if (trees_.size() < max_live_) StartTree();
      return;
    case 3:
    case 4: WorldMove(); return;
    case 5: life_->time.RunNext(); return;
    case 6: JudgeFinished(); return;
    case 7:
      if (prng_.Chance(1, 2)) OperatorMove();
      return;
    case 8:
      if (!trees_.empty() && prng_.Chance(1, 8)) SubmitTree(trees_.at(prng_.Below(trees_.size())));
      return;
    case 9:
      if (prng_.Chance(1, 12)) QuietCheck();
      if (prng_.Chance(1, 4)) TurnsCheck();
      return;
    case 10:
      if (prng_.Chance(1, 24)) CompareWithReload();
      if (prng_.Chance(1, 8)) DamageCheck();
      return;
    default:
      if (prng_.Chance(1, 2) && life_->workers.RunOne()) return;
      if (!life_->store->Pump()) life_->workers.RunOne();
  }
}

void Simulation::Drain() {
  draining_ = true;
  for (int round = 0; round < 5'000 && !trees_.empty() && !Failed(); ++round) {
    if (round % 8 == 0) QuietCheck();
    RunUntilQuiet();
    JudgeFinished();
    LetEverythingGo();
    WorldMove();
    life_->time.RunNext();
  }
  if (Failed()) return;
  LetEverythingGo();
  RunUntilQuiet();
  if (trees_.empty() && !life_->executor.Locks().empty()) {
    checkers_.Violation("locks: all have ended, but somebody has " + life_->executor.Locks().front().key.ToString());
  }
  for (const Tree& tree : trees_) {
    const auto info = life_->executor.Get(tree.pid);
    checkers_.Violation(
        fmt::format("no end: {} pid {} {}", tree.name, tree.pid,
                    info ? fmt::format("{}:{} waits for {} {}", ProcStateName(info->state), info->step_name,
                                       WaitingKindName(info->waiting.kind), info->waiting.detail)
                         : "unknown"));
  }
}

SimSummary Simulation::Run() {
  const testing::HangGuard guard(fmt::format("ratchet-sim --seed {}", options_.seed));
  for (; summary_.moves < options_.steps && !Failed(); ++summary_.moves) {
    if (summary_.moves % 1024 == 0) guard.Progress();
    Move();
    if (!life_->store->violation().empty()) checkers_.Violation(life_->store->violation());
  }
  guard.Progress();
  if (!Failed()) Drain();
  summary_.violations = checkers_.violations();
  if (Failed()) {
    const std::string disk = medium_->Describe();
    if (!disk.empty()) summary_.violations.push_back("what was stored:\n" + disk);
  }
  return summary_;
}

}  // namespace ratchet::sim
