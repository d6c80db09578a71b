// Steps that run before the outcome that leads to them is durable: S147 (run on without acting).
//
// A step whose row says kRunsOn may begin right after the outcome of the step before it, after a report was folded into
// its procedure, or after its last child has succeeded. All of it is then one commit, which is published, and
// acknowledged, as a whole and in order. Such a step cannot act outside: StepContext starts no work and confirms no
// owner. Where it asked for either, or returned anything but Next, Spawn or Done, it is forgotten: what was before it
// is committed, and it runs again afterwards.
#pragma once

#include <memory>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// `task` has the outcome of a step of `node`, which is free, and its effects. Null: that outcome has a commit of its
// own. Otherwise takes the task, and returns what runs next; `before`: what ran before without a commit, or null.
[[nodiscard]] std::unique_ptr<RunOn> RunOnAfter(ExecutorLock& held, ProcNode& node, const TransitionEffects& effects,
                                                CommitPoint point, std::unique_ptr<CommitTask>& task,
                                                std::unique_ptr<RunOn>& before);
// A report was folded into `node`, which is free, and `task` has its record. Returns true if it took the task: the step
// of `node` continues with the next worker.
[[nodiscard]] bool RunOnAfterReport(ExecutorLock& held, ProcNode& node, std::unique_ptr<CommitTask>& task);

// The worker begins the step.
void BeginRunOn(ExecutorLock& held, RunOn& on);
// Null: no procedure with a folded report can continue with this worker.
[[nodiscard]] std::unique_ptr<RunOn> TakeRunOn(ExecutorLock& held, bool urgent_only);

// True if the outcome of such a step may be stored together with what was before it.
[[nodiscard]] bool IsJoined(const Result<StepOutcome>& outcome);
// Commits `task`, the last outcome, together with what was before it, which may be null.
void CommitJoined(ExecutorLock& held, std::unique_ptr<RunOn> before, std::unique_ptr<CommitTask> task);
// The step cannot run on: commits what was before it. The step is free, and runs again afterwards.
void GoBack(ExecutorLock& held, std::unique_ptr<RunOn> on);
// The executor stops: commits what the steps that have not begun wait with.
void CommitWaiting(ExecutorLock& held);

}  // namespace ratchet::procedure
