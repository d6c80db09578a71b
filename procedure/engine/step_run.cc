#include "procedure/engine/step_run.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/activity.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {
namespace {

// Wakes the procedure when asynchronous work has arrived. The waker examines the procedure's state under the lock.
std::shared_ptr<AsyncResults> MakeBoard(Core& core, ProcId pid, const std::function<void(Core&, ProcId)>& wake) {
  return std::make_shared<AsyncResults>([weak = core.weak_from_this(), pid, wake] {
    if (const std::shared_ptr<Core> alive = weak.lock()) wake(*alive, pid);
  });
}

// The last child's end may not be durable yet.
const Durable& NewestOf(const ProcNode& child, const RunOn* on) {
  if (on != nullptr) {
    for (auto it = on->done.rbegin(); it != on->done.rend(); ++it) {
      if ((*it)->node == &child) return (*it)->next;
    }
  }
  return child.durable;
}

// A step that runs on must not act before the commit.
bool MayAct(const RunOn* on) { return on == nullptr || RATCHET_MUTANT("procedure.run_on_acts"); }

}  // namespace

StepRun::StepRun(ExecutorLock& held, ProcNode& node, const RunOn* on)
    : core_(held.core()),
      node_(node),
      on_(on),
      base_(on != nullptr ? on->base : node.durable),
      fresh_(on != nullptr && !on->same_step),
      epoch_(held->epoch),
      attempt_(fresh_ ? 1 : node.attempt),
      timed_out_(!fresh_ && node.timed_out),
      // 0 if the node has no board: the number of an earlier state must not hide the first arrival of this one.
      async_arrivals_(node.async_results != nullptr ? node.async_results->arrivals() : 0),
      undoing_(node.work == NodeWork::kUndo),
      step_(undoing_ ? node.durable.undo.back().step : base_.step),
      prng_(held->prng.Fork()),
      begin_ms_(held.now_ms() - std::chrono::duration_cast<Millis>(node.run_began - node.step_began).count()),
      begin_(node.step_began) {
  if (!undoing_ && base_.resumed_round != 0) {
    for (const ProcNode* child : node.children) {
      if (child->id.child_round != base_.resumed_round) continue;
      children_.push_back({child->id.pid, child->id.type, NewestOf(*child, on).result});
    }
  }
}

StepRun::~StepRun() = default;

WaitTicket StepRun::TakeTicket(EventKey key) {
  RATCHET_CHECK(!undoing_, "an undo must not wait");
  ExecutorLock held(core_);
  tickets_.push_back(held->waits.Take(key));
  held.Finish();
  return tickets_.back();
}

void StepRun::ForgetOnce(std::string_view key) {
  if (!fresh_ && node_.async_results != nullptr) node_.async_results->ForgetKey(key);
}

void StepRun::PutSystemRecord(std::string key, std::string value) {
  staged_.system_puts.push_back({std::move(key), std::move(value)});
}

void StepRun::DeleteSystemRecord(std::string key) { staged_.system_deletes.push_back(std::move(key)); }

Status StepRun::CheckOwner() {
  if (!MayAct(on_)) return Error(Code::kUnavailable, "what leads to this step is not durable yet");
  return core_.deps.store.Check();
}

std::function<Status()> StepRun::OwnerCheck() const {
  return [&store = core_.deps.store] { return store.Check(); };
}

std::any* StepRun::AsyncValue(std::string_view key) {
  return fresh_ || node_.async_results == nullptr ? nullptr : node_.async_results->Value(key);
}

std::function<void(std::any)> StepRun::BeginAsync(std::string_view key) {
  if (!MayAct(on_)) return nullptr;
  // The node is busy with this run, so this run may make its board. A waker gets the board from here.
  if (node_.async_results == nullptr) node_.async_results = MakeBoard(core_, node_.id.pid, WakeOnce);
  return node_.async_results->Begin(key);
}

Result<StepOutcome> StepRun::RunStep() {
  Result<StepOutcome> outcome = CallAuthor([this]() -> Result<StepOutcome> {
    if (first_) LogStart(core_, node_);
    if (FaultPoints::Instance().armed())
      IgnoreResult(HitFault("executor.before_step", FaultDetail(node_, step_, false)), "only to pause or die");
    return node_.procedure->RunStep(step_, *this);
  });
  end_ = core_.deps.clock.Now();
  return outcome;
}

Status StepRun::RunUndo() {
  Status status = CallAuthor([this] { return node_.procedure->UndoStep(step_, *this); });
  end_ = core_.deps.clock.Now();
  return status;
}

StepHistoryEntry StepRun::HistoryEntry(OutcomeKind outcome, const Error* error) const {
  StepHistoryEntry entry;
  entry.step = step_;
  entry.epoch = epoch_;
  entry.worker = worker_;
  entry.begin_ms = begin_ms_;
  entry.duration_us =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(end_ - begin_).count());
  entry.outcome = outcome;
  if (error != nullptr) entry.error = error->ToString();
  entry.attempts = node_.unrecorded_runs + 1;
  return entry;
}

void SuspendRun(ExecutorLock& held, ProcNode& node, StepRun& run) {
  LeaveSlot(held->running, node);
  for (const WaitTicket& ticket : run.tickets()) held->waits.Drop(ticket);
  RATCHET_CHECK(node.async_results != nullptr, "pid {} waits for work that it has not begun", node.id.pid);
  node.stays = true;
  EnterSlot(held->staying, node);
  ++node.unrecorded_runs;
  if (node.async_results->arrivals() != run.async_arrivals()) ResumeRun(held, node);
}

void EndRun(ExecutorLock& held, ProcNode& node, StepRun& run, const std::optional<WaitTicket>& spent) {
  LeaveSlot(held->running, node);
  if (node.work == NodeWork::kStep) node.work = NodeWork::kIdle;
  if (!held->pauses.barriers.empty()) PauseStepEnded(held, node);
  // Wakes the workers whose procedures waited for this one to end; more than a few wake each other.
  // A step that ran on was not polled.
  const std::size_t left = node.sched.running ? held->scheduler.Done(node.sched) : 0;
  for (std::size_t i = std::min<std::size_t>(left, 4); i > 0; --i) {
    held.NotifyWorkers(node.sched.urgent);
  }
  ProcedureTree::SetPhase(node, Phase::kFree);
  bool found = false;
  for (const WaitTicket& ticket : run.tickets()) {
    if (!found && spent && spent->key == ticket.key && spent->taken_at == ticket.taken_at) {
      found = true;
    } else {
      held->waits.Drop(ticket);
    }
  }
}

}  // namespace ratchet::procedure
