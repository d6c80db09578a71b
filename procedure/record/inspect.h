// What the executor shows of itself: plain values, copied under its lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/author/lock_request.h"
#include "procedure/author/procedure.h"

namespace ratchet::procedure {

// How many are in memory; cheap at any number of them.
struct ProcedureCounts {
  std::size_t all = 0;
  std::size_t unfinished = 0;
  std::size_t stuck = 0;  // of the unfinished ones: parked, or tried more often than asked
};

// The workers, and those that are held by a step that has run for longer than ExecutorOptions::stuck_threshold.
struct WorkersInfo {
  std::size_t workers = 0;
  std::size_t running = 0;  // in a step or an undo
  std::size_t held = 0;
  ProcId longest;  // whose step has run for longest; invalid: none runs
  Millis longest_for{0};
  bool work_waits = false;  // for a free worker
};

// Why a procedure is not running right now; kNone when it is, or will be as soon as a worker is free.
struct WaitingOn {
  enum class Kind : std::uint8_t {
    kNone,
    kChildren,
    kEvent,
    kOnce,
    kRetry,
    kLock,
    kCommit,
    kSiblings,
    kOperator,
    kPaused,
    kLimit
  };
  Kind kind = Kind::kNone;
  std::string detail;  // event name, keys of the async work, lock, reason of parking
  std::vector<ProcId>
      procedures;  // unfinished children, holders of the lock, those that occupy the limit, whose undo comes first
  std::optional<Millis> next_try_in;  // of a retry or a time-out
};
[[nodiscard]] std::string_view WaitingKindName(WaitingOn::Kind kind);
// "lock table t pid=7"; empty when nothing is in its way.
[[nodiscard]] std::string ToText(const WaitingOn& waiting);

struct LockHeld {
  ResourceKey key;
  LockMode mode = LockMode::kShared;
};

struct UndoEntry {
  StepNo step = 0;
  std::uint64_t order = 0;
};

// What an operator did to a procedure, and why; stored with it.
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
  std::string description;
  std::optional<PartsLeft> parts;  // of its work
  std::string owner;
  ProcState state = ProcState::kRunnable;
  StepNo step = 0;
  std::string step_name;
  bool past_no_return = false;  // of its tree
  bool failing = false;         // its tree is being undone
  std::int64_t submitted_ms = 0;
  std::int64_t updated_ms = 0;
  std::uint64_t version = 0;
  std::uint32_t attempt = 1;
  std::optional<Error> last_error;  // of the last Retry
  std::optional<Error> error;       // of the failure
  std::string result;
  std::string parked;            // reason; empty: not parked
  bool bypassed = false;         // an operator ended it, or is about to
  std::vector<VerbEntry> verbs;  // the newest last
  std::string paused;            // by which pause; empty: by none
  bool running = false;          // a step of it runs at this moment
  WaitingOn waiting;
  std::vector<LockHeld> locks;
  std::vector<UndoEntry> undo;
  std::string data;  // the durable data, serialised
  std::uint64_t nonce_group = 0;
  std::uint64_t nonce = 0;
  std::vector<StepHistoryEntry> history;  // only where a listener is told of the end
};

struct LockWaiter {
  ProcId pid;
  LockMode mode = LockMode::kShared;
};
struct LockInfo {
  ResourceKey key;
  std::vector<ProcId> exclusive;    // one, or members of one tree, ancestors first
  std::vector<ProcId> shared;       // beside an exclusive holder: its descendants
  std::vector<LockWaiter> waiters;  // in the order in which they will be served
};

// A resource of which as many procedures run a step as may, while others have to wait.
struct LimitInfo {
  ResourceKey key;
  std::uint32_t limit = 0;
  std::vector<ProcId> running;
  std::vector<ProcId> waiting;  // in the order in which they will be served
};

// A waiter and what it waits for: `from` cannot go on before `to` lets go or finishes.
struct WaitEdge {
  ProcId from;
  ProcId to;
  std::string why;  // "lock table t", "child", "behind in line for table t", "limit of table t", "undo"
};
struct WaitForGraph {
  std::vector<WaitEdge> edges;  // by rising `from`
  // Procedures that wait for each other in a ring; each ring named once, starting with its lowest pid. Not empty means
  // a defect.
  std::vector<std::vector<ProcId>> cycles;
  // What waits for no other procedure: an event, a retry, an operator.
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
  std::uint64_t hook_errors = 0;  // its hooks, or listeners told of one of them, have thrown
  // Histogram of durations from submission to end: bucket i counts those below 2^i milliseconds (and not below
  // 2^(i-1)).
  std::vector<std::uint64_t> duration_ms_log2;
};

}  // namespace ratchet::procedure
