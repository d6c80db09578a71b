// A procedure in memory: its durable state as of the last commit, its object, and its current activity.
//
// Owned by ProcedureTree; reachable only through an ExecutorLock (executor_lock.h). The object itself belongs to the
// part that has made the node busy: a worker during a step, the report handler during a fold.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/state_moves.h"
#include "common/base/strong_id.h"
#include "procedure/api/event.h"
#include "procedure/api/procedure.h"
#include "procedure/api/scheduling_class.h"
#include "procedure/api/store.h"
#include "procedure/core/async_results.h"
#include "procedure/core/lists.h"
#include "procedure/core/lock_manager.h"
#include "procedure/core/record.h"
#include "procedure/core/scheduler.h"
#include "procedure/core/transition.h"
#include "procedure/core/wait_table.h"

namespace ratchet::procedure {

// The current activity of a procedure in memory, and the legal moves. ProcedureTree::SetPhase makes each move.
// procedure/README.md draws them; StatesTest compares the drawing with the table. Pure.
enum class Phase : std::uint8_t {
  kFree,        // between two activities: the part that frees it adds it to the ready list; never seen when the
                // lock is free
  kLockLine,    // waits in the lock manager
  kQueued,      // waits for a worker and has its locks
  kRunning,     // busy: a worker runs its step or undo, it stays in progress without a worker, or a report is
                // folded
  kCommitting,  // busy: a commit is in flight
  kWaiting,     // for children, event, async work, backoff, operator or its turn in the rollback: see ProcNode
  kFinished,    // a succeeded child leaves this phase when its tree is undone
};
inline constexpr std::array kPhases{Phase::kFree,       Phase::kLockLine, Phase::kQueued,  Phase::kRunning,
                                    Phase::kCommitting, Phase::kWaiting,  Phase::kFinished};

[[nodiscard]] constexpr bool IsBusy(Phase phase) { return phase == Phase::kRunning || phase == Phase::kCommitting; }
[[nodiscard]] std::string_view PhaseName(Phase phase);
[[nodiscard]] constexpr StateSet<Phase> MovesFrom(Phase from) {
  using enum Phase;
  switch (from) {
    case kFree: return {kLockLine, kQueued, kRunning, kCommitting, kWaiting, kFinished};
    case kLockLine: return {kFree, kWaiting};
    case kQueued: return {kFree, kRunning, kWaiting};
    case kRunning: return {kFree};
    case kCommitting: return {kFree, kWaiting};
    case kWaiting: return {kFree, kQueued, kCommitting};
    case kFinished: return {kFree, kQueued, kWaiting};
  }
  return {};
}
inline constexpr MoveTable kPhaseMoves(kPhases, &MovesFrom);
[[nodiscard]] constexpr bool IsLegalMove(Phase from, Phase to) { return kPhaseMoves.MayGo(from, to); }

// The next action of a procedure once it is free, with the data that belongs only to that action: a ticket, a time
// limit and a timer exist only while it waits. SetNextAction makes each move. Values; the executor's lock guards them.

// One wait, from the decision to wait to its end.
struct Wait {
  enum class Stage : std::uint8_t {
    kToBegin,   // not in the wait table, no timer
    kUnderWay,  // in the wait table if it had a ticket; has a timer if it has a limit
    kOver,      // it ended while the procedure was busy: noticed when that is done
  };
  std::optional<WaitTicket> ticket;  // what it waits for; spent when the wait begins
  std::optional<Millis> limit;       // time-out, or backoff
  Stage stage = Stage::kToBegin;
  Timers::Handle timer = 0;  // 0: none
  TimePoint due{};           // due time of the timer
};

struct ToRun {};
struct ToRunAgain {};
struct ForChildren {};
struct ForEvent {
  Wait wait;
};
struct ForAsync {
  Wait wait;
  std::uint64_t arrivals = 0;  // number of arrivals of asynchronous work that the step had seen
};
struct ForRetry {
  Wait wait;
};
struct ForOperator {};
struct ForUndo {
  std::optional<Wait> backoff;  // before the next try of an undo that failed
};
struct Ended {
  std::optional<Wait> backoff;  // likewise, for a succeeded child whose tree is undone
};
// In the order of NextActionKind.
using NextAction =
    std::variant<ToRun, ToRunAgain, ForChildren, ForEvent, ForAsync, ForRetry, ForOperator, ForUndo, Ended>;

[[nodiscard]] inline NextActionKind KindOf(const NextAction& next_action) {
  return static_cast<NextActionKind>(next_action.index());
}
// Makes an action without the details of a wait.
[[nodiscard]] NextAction NextActionOf(NextActionKind kind);
// Null: the action does not wait for an event, asynchronous work or a backoff.
[[nodiscard]] Wait* WaitIn(NextAction& next_action);
[[nodiscard]] const Wait* WaitIn(const NextAction& next_action);

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
struct ProcedureResult;  // api/executor_options.h
// An operator's verb that waits for the procedure to be free.
struct VerbRequest {
  const char* verb = "";
  OperatorNote note;
  // Changes the durable state, or returns the reason of a refusal. Under the lock.
  std::function<Status(const ProcNode&, Durable& next)> edit;
  std::function<void(Status)> done;
};

// The locks that a procedure wants, expanded, and its place in the scheduler, which follows from them.
struct FoundLocks {
  std::vector<LockRequest> locks;
  SchedulingPlace place;
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
  // Its locks and place in the state with this version. A worker found them before it took the executor's lock. Null:
  // they were not found.
  std::unique_ptr<FoundLocks> wanted;
  std::uint64_t wanted_version = 0;
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

// Encodes a procedure for the store, and names its steps for fault points.

[[nodiscard]] ProcedureUpsert UpsertOf(const ProcNode& node, const Durable& durable);

// "CreateTable:ADD_TO_META"
[[nodiscard]] std::string FaultDetail(const ProcNode& node, StepNo step, bool undo);

// All procedures in memory and their parent-child links. Pure; the executor's lock guards it.
class ProcedureTree {
 public:
  // Links the node to its parent, which must be in the tree already.
  ProcNode& Add(std::unique_ptr<ProcNode> node);
  // The node must have no children left.
  void Remove(ProcNode& node);
  [[nodiscard]] ProcNode* Find(ProcId pid) const;

  // By pid.
  [[nodiscard]] std::vector<ProcNode*> Sorted() const;
  // `node` and the tree below it, parents before children.
  [[nodiscard]] static std::vector<ProcNode*> Subtree(ProcNode& node);

  // Changes the phase and updates the tree's count of busy members. A node that is no longer free leaves the ready
  // list.
  static void SetPhase(ProcNode& node, Phase phase);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Calls `visit` in no particular order.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [pid, node] : nodes_) visit(*node);
  }

 private:
  std::unordered_map<ProcId, std::unique_ptr<ProcNode>> nodes_;
};

}  // namespace ratchet::procedure
