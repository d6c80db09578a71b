#include "tests/sim/simulation.h"

#include <algorithm>

#include <fmt/format.h>

#include "procedure/durable_record.h"
#include "tests/sim/script_generator.h"

namespace ratchet::sim {

using procedure::Executor;
using procedure::ProcedureInfo;
using procedure::ProcedureResult;
using procedure::WaitingOn;

namespace {

class Listener final : public procedure::ProcedureListener {
 public:
  explicit Listener(Checkers& checkers) : checkers_(checkers) {}
  void OnFinished(const ProcedureInfo& info) override { checkers_.OnFinished(info); }

 private:
  Checkers& checkers_;
};

Executor::Options ExecutorOptions(std::uint64_t seed) {
  Executor::Options options;
  options.seed = seed;
  options.evict_interval = Millis{0};
  options.stuck_check_interval = Millis{0};
  options.acked_ttl = Millis{0};
  options.log_steps = false;
  return options;
}

}  // namespace

// One master.
struct Simulation::Life {
  Life(SimDisk& disk, const procedure::ProcedureRegistry& registry, testing::Journal& journal, ManualTime& manual_time,
       std::uint64_t seed)
      : store(disk), executor({store, registry, workers, manual_time, manual_time, procedure::EnvRef::Of(journal)},
                              ExecutorOptions(seed)) {}

  SimStore store;
  procedure::ManualWorkers workers;
  Executor executor;
};

Simulation::Simulation(const SimOptions& options) : options_(options), prng_(options.seed) {
  testing::RegisterScripts(registry_);
  journal_.SetObserver([this](char sign, const std::string& effect, const procedure::Procedure& by) {
    checkers_.OnEffect(sign, effect, by);
  });
  NewLife();
}

Simulation::~Simulation() { life_->store.PowerFailure(0); }

void Simulation::NewLife() {
  while (true) {
    journal_.ForgetAsync();
    life_ = std::make_unique<Life>(disk_, registry_, journal_, time_, prng_.Next());
    life_->executor.AddListener(std::make_shared<Listener>(checkers_));
    const Result<Epoch> epoch = life_->executor.Recover();
    if (!epoch.ok()) {
      checkers_.Violation("recovery failed: " + epoch.error().ToString());
      return;
    }
    for (const std::string& problem : life_->executor.LoadProblems()) checkers_.Violation("load: " + problem);
    if (!life_->executor.LoadProblems().empty()) DescribeDisk();
    checkers_.OnReload(life_->executor.List());
    life_->executor.Start();
    // Now and then the new master dies while it is still finding its feet.
    if (life_->store.in_flight() == 0 || !prng_.Chance(1, 6)) break;
    ++summary_.crashes[static_cast<std::size_t>(CrashPhase::kLoading)];
    life_->store.PowerFailure(prng_.Below(life_->store.in_flight() + 1));
    life_.reset();
  }
  // Clients that have no answer yet ask again.
  for (Tree& tree : trees_) {
    if (!tree.pid.valid()) SubmitTree(tree);
  }
}

void Simulation::DescribeLock(const procedure::LockInfo& info) {
  std::string text = fmt::format("lock: {} {} held by", info.key.ToString(),
                                 info.mode == procedure::LockMode::kExclusive ? "exclusive" : "shared");
  for (const ProcId holder : info.holders) text += fmt::format(" {}", holder);
  text += ", waited for by";
  for (const auto& waiter : info.waiters) {
    text += fmt::format(" {}{}", waiter.pid, waiter.mode == procedure::LockMode::kExclusive ? "!" : "");
  }
  checkers_.Violation(text);
}

// Every record, for the report of a violation.
void Simulation::DescribeDisk() {
  for (const auto& [pid, record] : disk_.records) {
    const auto decoded = procedure::DecodeRecord(record.bytes);
    if (!decoded.ok()) continue;
    const procedure::Durable& durable = decoded->durable;
    std::string locks;
    for (const auto& lock : durable.locks) {
      locks += fmt::format(" {}{}", lock.key.ToString(), lock.mode == procedure::LockMode::kExclusive ? "!" : "");
    }
    checkers_.Violation(fmt::format("disk: pid {} ppid {} root {} {} {}:{} v{} past={} undo={} locks={}", pid,
                                    decoded->identity.parent, decoded->identity.root, decoded->identity.type,
                                    ProcStateName(durable.state), durable.step, durable.version, durable.past_no_return,
                                    durable.undo.size(), locks));
  }
}

void Simulation::SubmitTree(Tree& tree) {
  procedure::SubmitOptions options;
  options.owner = "sim";
  options.nonce = {1, tree.nonce};
  const std::string name = tree.name;
  life_->executor.SubmitAsync(testing::MakeScript(tree.script), options, [this, name](const Result<ProcId>& pid) {
    for (Tree& known : trees_) {
      if (known.name != name || !pid.ok()) continue;
      checkers_.OnNonce(known.nonce, *pid);
      known.pid = *pid;
    }
  });
}

bool Simulation::AnyUndoing() {
  const auto all = life_->executor.List();
  return std::any_of(all.begin(), all.end(), [](const ProcedureInfo& info) { return info.failing; });
}

void Simulation::Crash() {
  SimStore& store = life_->store;
  CrashPhase phase = CrashPhase::kBeforeWrite;
  std::size_t survivors = 0;
  switch (prng_.Below(4)) {
    case 0: break;
    case 1:
      phase = CrashPhase::kWritten;
      survivors = prng_.Below(store.in_flight() + 1);
      break;
    case 2:
      phase = CrashPhase::kSynced;
      survivors = store.in_flight();
      break;
    default:
      phase = CrashPhase::kPublished;
      store.Pump();
  }
  if (phase != CrashPhase::kPublished && store.in_flight() == 0) return;
  if (AnyUndoing() && prng_.Chance(1, 2)) phase = CrashPhase::kUndoing;
  ++summary_.crashes[static_cast<std::size_t>(phase)];
  store.PowerFailure(survivors);
  life_.reset();
  NewLife();
}

std::string Simulation::Fingerprint(Executor& executor) {
  std::string text;
  for (const ProcedureInfo& info : executor.List()) {
    // A wait is looked at anew after a load; everything else must be the same.
    const bool waits = info.state == procedure::ProcState::kWaitingTimeout;
    text += fmt::format("{} {} {}:{} v{} {} undo", info.pid, info.type, waits ? "RUNNABLE" : ProcStateName(info.state),
                        info.step, info.version, info.past_no_return ? "past" : "-");
    for (const auto& entry : info.undo) text += fmt::format(" {}@{}", entry.step, entry.order);
    text += fmt::format(" data={}\n", info.data);
  }
  return text;
}

// Memory is what a load would give: a second executor reads a copy of the disk.
void Simulation::CompareWithReload() {
  while (life_->store.Pump()) {
  }
  ++summary_.comparisons;
  SimDisk copy = disk_;
  testing::Journal nobody;
  ManualTime frozen;
  Life other(copy, registry_, nobody, frozen, 1);
  const Result<Epoch> epoch = other.executor.Recover();
  if (!epoch.ok()) {
    checkers_.Violation("reload failed: " + epoch.error().ToString());
    return;
  }
  const std::string memory = Fingerprint(life_->executor);
  const std::string loaded = Fingerprint(other.executor);
  other.store.PowerFailure(0);
  if (memory != loaded) checkers_.Violation("memory differs from a reload:\n" + memory + "--- reloaded:\n" + loaded);
}

void Simulation::JudgeFinished() {
  for (std::size_t i = 0; i < trees_.size();) {
    Tree& tree = trees_[i];
    const ProcedureResult result = tree.pid.valid() ? life_->executor.GetResult(tree.pid) : ProcedureResult{};
    checkers_.OnResult(tree.pid, result);
    if (tree.pid.valid() && result.status == ProcedureResult::Status::kNotFound) {
      checkers_.Violation(fmt::format("pid {} is forgotten before its result was taken", tree.pid));
    } else if (!result.finished()) {
      ++i;
      continue;
    }
    // Asked once more by its nonce, then taken.
    SubmitTree(tree);
    const bool success = result.status == ProcedureResult::Status::kSuccess;
    ++(success ? summary_.succeeded : summary_.undone);
    checkers_.OnTreeEnd(tree.pid, tree.name, success, journal_);
    life_->executor.Ack(tree.pid);
    trees_.erase(trees_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Something happens in the world: a report, an event, the end of asynchronous work.
bool Simulation::WorldMove() {
  if (prng_.Chance(1, 3) && journal_.FinishAsync()) return true;
  const auto all = life_->executor.List();
  if (all.empty()) return false;
  const ProcedureInfo& info = all.at(prng_.Below(all.size()));
  if (prng_.Chance(1, 2)) {
    life_->executor.Deliver(info.pid, "report", [](const Result<procedure::Absorbed>&) {});
  } else {
    const testing::pb::Script script = [&info] {
      testing::pb::Script parsed;
      parsed.ParseFromString(info.data);
      return parsed;
    }();
    for (const auto& op : script.ops()) {
      if (op.kind() != testing::pb::ScriptOp::AWAIT_EVENT) continue;
      journal_.FirstTime("event:" + op.text());
      life_->executor.Wake({op.text()});
    }
  }
  return true;
}

void Simulation::Move() {
  if (prng_.Chance(1, options_.crash_one_in)) {
    Crash();
    return;
  }
  switch (prng_.Below(20)) {
    case 0:
    case 1:
      if (trees_.size() < options_.max_live && !draining_) {
        Tree tree;
        tree.name = fmt::format("T{}.", ++names_);
        tree.script = RandomTree(prng_, tree.name);
        tree.nonce = names_;
        trees_.push_back(std::move(tree));
        ++summary_.submitted;
        SubmitTree(trees_.back());
      }
      return;
    case 2: WorldMove(); return;
    case 3: time_.RunNext(); return;
    case 4: JudgeFinished(); return;
    case 5:
      if (!trees_.empty() && prng_.Chance(1, 4)) {
        IgnoreResult(life_->executor.Abort(trees_.at(prng_.Below(trees_.size())).pid, "sim", "chance"),
                     "refused where it is too late");
      }
      return;
    case 6:
      if (!trees_.empty()) SubmitTree(trees_.at(prng_.Below(trees_.size())));
      return;
    case 7:
      if (prng_.Chance(1, 20)) CompareWithReload();
      return;
    default:
      if (prng_.Chance(1, 2)) {
        if (life_->workers.RunOne()) return;
      }
      if (!life_->store.Pump()) life_->workers.RunOne();
  }
}

// Nothing breaks any more and everything happens: all must come to an end.
void Simulation::Drain() {
  draining_ = true;
  for (int round = 0; round < 200'000 && !trees_.empty(); ++round) {
    while (life_->workers.RunOne() || life_->store.Pump()) {
    }
    JudgeFinished();
    if (!journal_.FinishAsync() && !WorldMove()) time_.RunNext();
    if (round % 3 == 0) time_.RunNext();
  }
  if (trees_.empty()) return;
  for (const Tree& tree : trees_) {
    const auto info = life_->executor.Get(tree.pid);
    checkers_.Violation(fmt::format("no end: {} pid {} {}", tree.name, tree.pid,
                                    info ? fmt::format("{}:{} waits for {} {}", ProcStateName(info->state), info->step_name,
                                                       WaitingKindName(info->waiting.kind), info->waiting.detail)
                                         : "unknown"));
  }
  const procedure::WaitForGraph graph = life_->executor.WaitFor();
  for (const auto& edge : graph.edges) checkers_.Violation(fmt::format("{} -> {} {}", edge.from, edge.to, edge.why));
}

SimSummary Simulation::Run() {
  for (; summary_.steps < options_.steps && checkers_.violations().empty(); ++summary_.steps) {
    Move();
    if (!life_->store.violation().empty()) checkers_.Violation(life_->store.violation());
    // A ring may exist for a moment, until the tree that gives way is undone.
    if (!life_->executor.Idle()) continue;
    if (const procedure::WaitForGraph graph = life_->executor.WaitFor(); !graph.cycles.empty()) {
      checkers_.Violation("a ring in the wait-for graph: " + graph.Chain(graph.cycles.front().front()));
      for (const auto& info : life_->executor.Locks()) DescribeLock(info);
      DescribeDisk();
    }
  }
  if (checkers_.violations().empty()) Drain();
  summary_.violations = checkers_.violations();
  return summary_;
}

}  // namespace ratchet::sim
