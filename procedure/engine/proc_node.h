// A procedure in memory: its durable state as of the last commit, its object, and its current activity.
//
// Owned by ProcedureTree; reachable only through an ExecutorLock (executor_lock.h). The object itself belongs to the
// part that has made the node busy: a worker during a step, the report handler during a fold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "procedure/api/procedure.h"
#include "procedure/core/async_results.h"
#include "procedure/core/durable_record.h"
#include "procedure/core/lock_holder.h"
#include "procedure/core/ready_list.h"
#include "procedure/core/scheduler.h"
#include "procedure/core/transition.h"
#include "procedure/core/wait_table.h"
#include "procedure/engine/next_action.h"
#include "procedure/engine/phase.h"

namespace ratchet::procedure {

struct PendingReport {
  std::string message;
  std::function<void(Result<Absorbed>)> done;
};

struct AbortRequest {
  std::string who;
  std::string why;
  std::vector<std::function<void(Status)>> done;
  bool lets_go = false;                       // the abort also clears a park that was applied or requested before it
  std::optional<Error> error = std::nullopt;  // with which the tree fails; empty: as aborted by `who`
};

// The locks that the next step needs.
enum class LockState : std::uint8_t {
  kNone,      // not requested
  kWaiting,   // in the lock manager's queue
  kGranted,   // by the lock manager; the record does not show that yet
  kRecorded,  // the record shows that it holds (or is covered for) all of them
};

// The current piece of work of a procedure.
enum class NodeWork : std::uint8_t {
  kIdle,
  kStep,  // runs
  kUndo,  // its newest undo is queued, runs, is being stored, or waits for its backoff
  kFold,  // reports are folded into it
};

struct ProcNode;
struct ProcedureResult;  // requests.h
// An operator's verb that waits for the procedure to be free.
struct VerbRequest {
  const char* verb = "";
  OperatorNote note;
  // Changes the durable state, or returns the reason of a refusal. Under the lock.
  std::function<Status(const ProcNode&, Durable& next)> edit;
  std::function<void(Status)> done;
};

struct ProcNode {
  ProcNode(Identity identity, Durable state) : id(std::move(identity)), durable(std::move(state)), locks(id.pid) {
    sched.owner = this;
  }

  const Identity id;
  Durable durable;
  ProcedurePtr procedure;  // null: unknown type or unreadable data; then it is parked
  ProcNode* parent = nullptr;
  ProcNode* root = nullptr;
  std::vector<ProcNode*> children;  // all that are in memory, finished ones included, by pid
  std::uint32_t unfinished_children = 0;
  bool inherits_child_locks = false;  // holds locks that succeeded children have handed over

  Phase phase = Phase::kFree;
  NextAction next_action;  // changed by SetNextAction
  [[nodiscard]] NextActionKind next_kind() const { return KindOf(next_action); }
  ReadyLink ready{this};  // linked while free; the node continues before the lock is released
  SchedItem sched;
  std::size_t running_slot = 0;  // in CoreState::running, while a worker is in its step or undo; in CoreState::staying
                                 // while it stays
  LockHolder locks;
  bool begun = false;  // the current step may have run
  LockState lock_state = LockState::kNone;
  NodeWork work = NodeWork::kIdle;
  // A worker is in its step or undo now, or the step or undo stays in progress without a worker.
  [[nodiscard]] bool in_step() const { return phase == Phase::kRunning && work != NodeWork::kFold; }
  bool held = false;   // would run, but is paused
  bool stays = false;  // it is in its step or undo without a worker, until its own work is done (StayForAsync)
  bool missing_children = false;  // records of its tree are missing at or below it: parked, and its tree is not undone
  bool orphaned = false;          // parent record missing after recovery; no step of this subtree runs

  // For the current step.
  std::uint32_t attempt = 1;
  std::optional<Error> last_error;
  TimePoint step_began{};  // of the first run of a step that stays in progress
  TimePoint run_began{};   // when a worker took it
  bool timed_out = false;
  std::shared_ptr<AsyncResults> async_results;
  std::uint64_t timer_serial = 0;     // guards against a timer that was cancelled too late
  std::uint32_t unrecorded_runs = 0;  // runs of this step that are not in a history entry yet

  std::vector<PendingReport> reports;
  std::optional<AbortRequest> abort;
  std::vector<VerbRequest> verbs;
  std::vector<std::function<void(ProcedureResult)>> finish_waiters;

  // Root only.
  struct Tree {
    explicit Tree(ProcNode* root) : ready(root) {}
    ReadyLink ready;  // linked while the tree's rollback continues before the lock is released
    bool failing = false;
    bool concluding = false;       // everything is undone; the commit that ends the root and removes the members is in
                                   // flight
    bool prepared = false;         // every member is marked failed: undo entries are complete
    Timers::Handle deadline = 0;   // timer of the deadline; 0: none
    std::uint32_t busy = 0;        // number of busy members
    std::uint32_t incomplete = 0;  // number of members with missing children
    std::vector<std::pair<std::uint64_t, ProcNode*>> undo;  // rising order; the newest at the end
    std::optional<Error> error;                             // the first failure
  } tree{this};
};

// Adds the node to the list, or removes it, in constant time; the order is not kept. It is in one list at a time.
void EnterSlot(std::vector<ProcNode*>& list, ProcNode& node);
void LeaveSlot(std::vector<ProcNode*>& list, ProcNode& node);

// An illegal move ends the process. A wait that is in progress must have been ended before (waiting.h).
void SetNextAction(ProcNode& node, NextAction&& next_action);

// Forgets what belongs to the current step only: attempt, error, asynchronous work.
void ResetStep(ProcNode& node);
// Forgets the asynchronous work of the step or undo, and ignores its late results.
void ForgetAsyncResults(ProcNode& node);
// Forgets only the number of attempts of the current step, and their last error.
void ForgetRuns(ProcNode& node);

}  // namespace ratchet::procedure
