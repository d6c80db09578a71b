#include "procedure/engine/step_run.h"

#include <algorithm>

#include "common/base/check.h"
#include "procedure/author/author_call.h"
#include "procedure/engine/pause.h"
#include "procedure/session/waiting.h"

namespace ratchet::procedure {
namespace {

// Wakes the procedure when a piece of asynchronous work has arrived; whatever it is doing then is looked at under the
// lock.
std::shared_ptr<OnceBoard> MakeBoard(Core& core, ProcId pid, const std::function<void(Core&, ProcId)>& wake) {
  return std::make_shared<OnceBoard>([weak = core.weak_from_this(), pid, wake] {
    if (const std::shared_ptr<Core> alive = weak.lock()) wake(*alive, pid);
  });
}

}  // namespace

StepRun::StepRun(Session& session, ProcNode& node)
    : core_(session.core()),
      node_(node),
      epoch_(session->epoch),
      attempt_(node.attempt),
      timed_out_(node.timed_out),
      // Also without a board: the number of an earlier state must not hide the first arrival of this one.
      once_arrivals_(node.once != nullptr ? node.once->arrivals() : 0),
      undoing_(node.undoing),
      step_(node.undoing ? node.durable.undo.back().step : node.durable.step),
      prng_(session->prng.Fork()),
      begin_ms_(session.now_ms()),
      begin_(core_.deps.clock.Now()) {
  if (!undoing_ && node.durable.resumed_round != 0) {
    for (const ProcNode* child : node.children) {
      if (child->id.child_round != node.durable.resumed_round) continue;
      children_.push_back({child->id.pid, child->id.type, child->durable.result});
    }
  }
}

StepRun::~StepRun() = default;

WaitTicket StepRun::TakeTicket(EventKey key) {
  RATCHET_CHECK(!undoing_, "an undo waits for nothing");
  Session session(core_);
  tickets_.push_back(session->waits.Take(key));
  return tickets_.back();
}

void StepRun::ForgetOnce(std::string_view key) {
  if (node_.once != nullptr) node_.once->ForgetKey(key);
}

void StepRun::PutSystemRecord(std::string key, std::string value) {
  staged_.system_puts.push_back({std::move(key), std::move(value)});
}

void StepRun::DeleteSystemRecord(std::string key) { staged_.system_deletes.push_back(std::move(key)); }

Status StepRun::CheckOwner() { return core_.deps.store.Check(); }

std::any* StepRun::OnceValue(std::string_view key) {
  RATCHET_CHECK(!undoing_, "an undo waits for nothing");
  return node_.once == nullptr ? nullptr : node_.once->Value(key);
}

std::function<void(std::any)> StepRun::OnceBegin(std::string_view key) {
  // The node is busy with this run, so its board is ours to make; a waker has got it from here.
  if (node_.once == nullptr) node_.once = MakeBoard(core_, node_.id.pid, WakeOnce);
  return node_.once->Begin(key);
}

Result<StepOutcome> StepRun::RunStep() {
  Result<StepOutcome> outcome =
      CallAuthor([this]() -> Result<StepOutcome> { return node_.procedure->RunStep(step_, *this); });
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

void EndRun(Session& session, ProcNode& node, StepRun& run, const std::optional<WaitTicket>& spent) {
  session->running[node.running_slot] = session->running.back();
  session->running[node.running_slot]->running_slot = node.running_slot;
  session->running.pop_back();
  node.in_step = false;
  if (!session->pauses.barriers.empty()) PauseStepEnded(session, node);
  // Those that had to wait for this one; more than a few wake each other.
  for (std::size_t i = std::min<std::size_t>(session->scheduler.Done(node.sched), 4); i > 0; --i) {
    session.NotifyWorkers(node.sched.urgent);
  }
  ProcedureTree::SetPhase(node, Phase::kFree);
  bool found = false;
  for (const WaitTicket& ticket : run.tickets()) {
    if (!found && spent && spent->key == ticket.key && spent->taken_at == ticket.taken_at) {
      found = true;
    } else {
      session->waits.Drop(ticket);
    }
  }
}

}  // namespace ratchet::procedure
