// One run of one step or undo: the StepContext that the step gets, and the data that the run changes.
#pragma once

#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "procedure/api/step_context.h"
#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Filled under the lock before the run, then used without the lock by one worker.
class StepRun final : public StepContext {
 public:
  // `on`: the step runs before what leads to it is durable (run_on.h); null: from the stored state. Outlives the run.
  StepRun(ExecutorLock& held, ProcNode& node, const RunOn* on);
  ~StepRun() override;  // tickets that were not spent are dropped by EndRun

  [[nodiscard]] ProcId pid() const override { return node_.id.pid; }
  [[nodiscard]] ProcId parent() const override { return node_.id.parent; }
  [[nodiscard]] ProcId root() const override { return node_.id.root; }
  [[nodiscard]] Epoch epoch() const override { return epoch_; }
  [[nodiscard]] std::uint32_t attempt() const override { return attempt_; }
  [[nodiscard]] bool timed_out() const override { return timed_out_; }
  [[nodiscard]] bool undoing() const override { return undoing_; }
  [[nodiscard]] const std::string& owner() const override { return node_.id.owner; }
  [[nodiscard]] Clock& clock() const override { return core_.deps.clock; }
  [[nodiscard]] Prng& prng() override { return prng_; }
  [[nodiscard]] const EnvRef& env_ref() const override { return core_.deps.env; }
  [[nodiscard]] const std::vector<ChildResult>& children() const override { return children_; }
  [[nodiscard]] WaitTicket TakeTicket(EventKey key) override;
  void ForgetOnce(std::string_view key) override;
  void PutSystemRecord(std::string key, std::string value) override;
  void DeleteSystemRecord(std::string key) override;
  // S147 (run on without acting): no owner is confirmed to a step that must not act yet.
  [[nodiscard]] Status CheckOwner() override;
  [[nodiscard]] std::function<Status()> OwnerCheck() const override;
  [[nodiscard]] bool urgent() const override { return node_.sched.urgent; }

  // Runs the current step; an exception becomes kInternal.
  [[nodiscard]] Result<StepOutcome> RunStep();
  // Runs the newest undo.
  [[nodiscard]] Status RunUndo();

  // ---- for the runner, after the run ----
  [[nodiscard]] ProcNode& node() const { return node_; }
  [[nodiscard]] const ExecutorOptions& options() const { return core_.options; }
  // The state from which the step runs.
  [[nodiscard]] const Durable& base() const { return base_; }
  std::vector<WaitTicket>& tickets() { return tickets_; }
  StoreBatch& staged() { return staged_; }
  [[nodiscard]] StepNo step() const { return step_; }
  // Number of arrivals of asynchronous work when the run began.
  [[nodiscard]] std::uint64_t async_arrivals() const { return async_arrivals_; }
  // The history entry of this run.
  [[nodiscard]] StepHistoryEntry HistoryEntry(OutcomeKind outcome, const Error* error) const;
  void SetWorker(std::uint32_t worker) { worker_ = worker; }
  // The run logs the start of the procedure, because no step of it has run before.
  void SetFirst() { first_ = true; }
  // The step or undo is not over: it waits for its own work (StayForAsync).
  [[nodiscard]] bool stays() const { return stays_; }

 protected:
  void Stay() override { stays_ = on_ == nullptr; }
  std::any* AsyncValue(std::string_view key) override;
  std::function<void(std::any)> BeginAsync(std::string_view key) override;

 private:
  Core& core_;
  ProcNode& node_;
  const RunOn* const on_;
  const Durable& base_;
  const bool fresh_;  // nothing in memory about the node's current step belongs to this step
  const Epoch epoch_;
  const std::uint32_t attempt_;
  const bool timed_out_;
  const std::uint64_t async_arrivals_;
  const bool undoing_;
  const StepNo step_;
  Prng prng_;
  std::uint32_t worker_ = 0;
  bool first_ = false;
  bool stays_ = false;
  const std::int64_t begin_ms_;
  const TimePoint begin_;
  TimePoint end_{};
  std::vector<ChildResult> children_;
  std::vector<WaitTicket> tickets_;
  StoreBatch staged_;
};

// The worker leaves the step or undo of `node`, which stays in progress until its own work is done.
void SuspendRun(ExecutorLock& held, ProcNode& node, StepRun& run);
// The worker has left the step or undo of `node`, which is free now: handles its pauses, limits and unspent tickets.
// `spent`: the ticket that its outcome waits on.
void EndRun(ExecutorLock& held, ProcNode& node, StepRun& run, const std::optional<WaitTicket>& spent);

}  // namespace ratchet::procedure
