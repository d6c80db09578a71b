// A procedure in memory: its durable state as of the last commit, its object, and what it is doing right now.
//
// Owned by ProcedureTree; reachable only through a Session (session.h). The object itself belongs to the part that has
// made the node busy: a worker during a step, the report handler during a fold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "procedure/author/procedure.h"
#include "procedure/pure/lock_holder.h"
#include "procedure/pure/once_board.h"
#include "procedure/pure/ready_list.h"
#include "procedure/pure/scheduler.h"
#include "procedure/pure/transition.h"
#include "procedure/pure/wait_table.h"
#include "procedure/record/durable_record.h"
#include "procedure/session/intent.h"
#include "procedure/session/phase.h"

namespace ratchet::procedure {

struct PendingReport {
  std::string message;
  std::function<void(Result<Absorbed>)> done;
};

struct AbortRequest {
  std::string who;
  std::string why;
  std::vector<std::function<void(Status)>> done;
  bool lets_go = false;  // of the park that stood when it was asked for, or was asked for before it
};

struct ProcNode;
struct ProcedureResult;  // requests.h
// An operator's verb that waits for the procedure to be free.
struct VerbRequest {
  const char* verb = "";
  OperatorNote note;
  // Changes the durable state, or says why not. Under the lock.
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
  bool kept_for_children = false;  // holds locks that succeeded children have handed over

  Phase phase = Phase::kFree;
  Intent intent;  // changed by SetIntent
  [[nodiscard]] Want want() const { return WantOf(intent); }
  ReadyLink ready{this};  // linked: free, and goes on before the session ends
  SchedItem sched;
  std::size_t running_slot = 0;  // in CoreState::running, while a worker is in its step or undo
  LockHolder locks;
  bool begun = false;         // the current step may have run
  bool undoing = false;       // the next thing to run is the newest undo
  bool has_grant = false;     // holds (or is covered for) all the locks that its next step needs, on record
  bool granted = false;       // the lock manager has granted, the record does not say so yet
  bool held = false;          // would run, but is paused
  bool in_step = false;       // a worker is in its step or undo at this moment
  bool hole = false;          // records of its tree are missing at or below it: parked, and its tree is not undone
  bool stands_still = false;  // of a load: the record above it is lost, so nothing of this subtree runs

  // Of the current step.
  std::uint32_t attempt = 1;
  std::optional<Error> last_error;
  TimePoint run_began{};
  bool timed_out = false;
  std::shared_ptr<OnceBoard> once;
  std::uint64_t timer_serial = 0;     // guards against a timer that was cancelled too late
  std::uint32_t unrecorded_runs = 0;  // runs of this step that are in no history entry yet

  std::vector<PendingReport> reports;
  std::optional<AbortRequest> abort;
  std::vector<VerbRequest> verbs;
  std::vector<std::function<void(ProcedureResult)>> finish_waiters;

  // Root only.
  struct Tree {
    explicit Tree(ProcNode* root) : ready(root) {}
    ReadyLink ready;  // linked: its undoing goes on before the session ends
    bool failing = false;
    bool concluding = false;  // all is undone; the commit that ends the root and removes the members is in flight
    bool prepared = false;    // every member is marked failed: undo entries are complete
    std::uint32_t busy = 0;   // members that are busy
    std::uint32_t holes = 0;  // members that are holes
    std::vector<std::pair<std::uint64_t, ProcNode*>> undo;  // rising order; the newest at the end
    std::optional<Error> error;                             // the first failure
  } tree{this};
};

// Ends the process at an illegal move. A wait that is under way must have been ended before (waiting.h).
void SetIntent(ProcNode& node, Intent&& intent);

// Forgets what belongs to the current step only: attempt, error, asynchronous work.
void ResetStep(ProcNode& node);
// Of that only how often it was tried, and why.
void ForgetRuns(ProcNode& node);

}  // namespace ratchet::procedure
