// The executor's views of itself: plain values, copied under its lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/api/description.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/procedure.h"

namespace ratchet::procedure {

// Numbers of procedures in memory; cheap at any number.
struct ProcedureCounts {
  std::size_t all = 0;
  std::size_t unfinished = 0;
  std::size_t stuck = 0;  // unfinished procedures that are parked, or tried more often than the caller's limit
};

// The workers, and those that are blocked in a step that has run for longer than ExecutorOptions::stuck_threshold.
struct WorkersInfo {
  std::size_t workers = 0;
  std::size_t running = 0;  // in a step or an undo
  std::size_t held = 0;
  ProcId longest;  // whose step has run for longest; invalid: none runs
  Millis longest_for{0};
  bool work_waits = false;  // runnable work waits for a free worker
  // Steps that have waited for their own work, such as an action on files, for longer than the same threshold. They
  // hold no worker.
  std::size_t staying = 0;
  ProcId longest_staying;  // invalid: none
  Millis longest_stay{0};
  std::string longest_work;  // for what it waits
};

// Why a procedure is not running right now; kNone when it is, or will be as soon as a worker is free.
struct WaitingOn {
  enum class Kind : std::uint8_t {
    kNone,
    kChildren,
    kEvent,
    kAsync,
    kRetry,
    kLock,
    kCommit,
    kSiblings,
    kOperator,
    kPaused,
    kLimit
  };
  Kind kind = Kind::kNone;
  std::string detail;                 // event name, keys of the async work, lock, reason of parking
  std::vector<ProcId> procedures;     // unfinished children, holders of the lock, procedures that use up the limit, the
                                      // one whose undo comes first, or members whose steps must end before the undo
  std::optional<Millis> next_try_in;  // until a retry or a time-out
  bool own = false;                   // kAsync: its step stays in progress (StepContext::StayForAsync)
};
[[nodiscard]] std::string_view WaitingKindName(WaitingOn::Kind kind);
// "lock table t pid=7"; empty when nothing blocks it.
[[nodiscard]] std::string ToText(const WaitingOn& waiting);

struct LockHeld {
  ResourceKey key;
  LockMode mode = LockMode::kShared;
};

struct UndoEntry {
  StepNo step = 0;
  std::uint64_t order = 0;
};

// A verb that an operator applied to a procedure, and the reason; stored with the procedure.
struct VerbEntry {
  std::string verb;  // abort, bypass, park, unpark, rerun
  std::string who;
  std::string why;
  std::int64_t at_ms = 0;
};

struct StepHistoryEntry {
  StepNo step = 0;
  std::string step_name;
  Epoch epoch;
  std::uint32_t worker = 0;
  std::int64_t begin_ms = 0;
  std::uint64_t duration_us = 0;
  OutcomeKind outcome = OutcomeKind::kNext;
  std::string error;
  std::uint32_t attempts = 1;
};

struct ProcedureInfo {
  ProcId pid;
  ProcId parent;  // invalid for a root
  ProcId root;
  std::string type;
  Description description;
  std::optional<PartsLeft> parts;  // of its work
  std::string owner;
  std::string peer;    // of a root: address of the client that asked for it, like the next one
  std::string method;  // the method by which it asked; both empty: the host asked, or an earlier version recorded it
  ProcState state = ProcState::kRunnable;
  StepNo step = 0;
  std::string step_name;
  bool past_no_return = false;  // of its tree
  bool failing = false;         // its tree is being undone
  std::int64_t submitted_ms = 0;
  std::int64_t updated_ms = 0;
  std::uint64_t version = 0;
  std::uint32_t attempt = 1;
  std::optional<Error> last_error;  // from the last Retry
  std::optional<Error> error;       // the failure
  std::string result;
  std::string parked;            // reason; empty: not parked
  bool bypassed = false;         // an operator ended it, or is about to
  std::vector<VerbEntry> verbs;  // the newest last
  std::string paused;            // the pause that covers it; empty: none
  bool running = false;          // a step of it runs now
  WaitingOn waiting;
  std::vector<LockHeld> locks;
  std::vector<UndoEntry> undo;
  std::string data;  // the durable data, serialised
  std::uint64_t nonce_group = 0;
  std::uint64_t nonce = 0;
  std::uint64_t deadline_ms = 0;          // of a root; 0: none
  std::vector<StepHistoryEntry> history;  // only for a listener's OnFinished
  std::uint32_t history_dropped = 0;      // entries that were left out after the first `history_first`
  std::uint32_t history_first = 0;
};

struct LockWaiter {
  ProcId pid;
  LockMode mode = LockMode::kShared;
};
struct LockInfo {
  ResourceKey key;
  std::vector<ProcId> exclusive;    // one procedure, or members of one tree, ancestors first
  std::vector<ProcId> shared;       // shared holders; together with an exclusive one only its descendants
  std::vector<LockWaiter> waiters;  // in the order in which they will be served
};

// A resource whose limit of running procedures is reached, while others have to wait.
struct LimitInfo {
  ResourceKey key;
  std::uint32_t limit = 0;
  std::vector<ProcId> running;
  std::vector<ProcId> waiting;  // in the order in which they will be served
};

// A waiter and what it waits for: `from` cannot proceed before `to` releases a lock or finishes.
struct WaitEdge {
  ProcId from;
  ProcId to;
  std::string why;  // "lock table t", "child", "behind in the queue for table t", "limit of table t", "undo"
};
struct WaitForGraph {
  std::vector<WaitEdge> edges;  // by rising `from`
  // Procedures that wait for each other in a cycle; each cycle is named once, starting with its lowest pid. Not empty
  // means a defect.
  std::vector<std::vector<ProcId>> cycles;
  // Procedures that wait for something other than a procedure: an event, a retry, an operator.
  std::map<ProcId, std::string> ends;
  // The whole chain of one waiter: "7 -lock table t-> 3 -child-> 9 (operator parked by op: look)". Empty when it waits
  // for none.
  [[nodiscard]] std::string Chain(ProcId from) const;
};

// The operator of a verb, and the reason; recorded with it.
struct OperatorNote {
  std::string who;
  std::string why;
};

// Counters and durations of one type since the start of this process (HBase's ProcedureMetrics).
struct TypeMetrics {
  std::string type;
  std::uint64_t submitted = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t hook_errors = 0;  // exceptions from its hooks, or from listeners that were notified of it
  // Histogram of durations from submission to end: bucket i counts those below 2^i milliseconds (and at least 2^(i-1)).
  std::vector<std::uint64_t> duration_ms_log2;
};

}  // namespace ratchet::procedure
