// What the executor shows of itself: plain values, copied under its lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/lock_request.h"
#include "procedure/procedure.h"

namespace ratchet::procedure {

// How many are in memory; cheap at any number of them.
struct ProcedureCounts {
  std::size_t all = 0;
  std::size_t unfinished = 0;
  std::size_t stuck = 0;  // of the unfinished ones: parked, or tried more often than asked
};

// Why a procedure is not running right now; kNone when it is, or will be as soon as a worker is free.
struct WaitingOn {
  enum class Kind : std::uint8_t { kNone, kChildren, kEvent, kOnce, kRetry, kLock, kCommit, kSiblings, kOperator, kPaused };
  Kind kind = Kind::kNone;
  std::string detail;                   // event name, keys of the async work, lock, reason of parking
  std::vector<ProcId> procedures;       // unfinished children, or holders of the lock
  std::optional<Millis> next_try_in;    // of a retry or a time-out
};
[[nodiscard]] std::string_view WaitingKindName(WaitingOn::Kind kind);

struct LockHeld {
  ResourceKey key;
  LockMode mode = LockMode::kShared;
};

struct UndoEntry {
  StepNo step = 0;
  std::uint64_t order = 0;
};

struct ProcedureInfo {
  ProcId pid;
  ProcId parent;   // invalid for a root
  ProcId root;
  std::string type;
  std::string description;
  std::string owner;
  ProcState state = ProcState::kRunnable;
  StepNo step = 0;
  std::string step_name;
  bool past_no_return = false;          // of its tree
  bool failing = false;                 // its tree is being undone
  std::int64_t submitted_ms = 0;
  std::int64_t updated_ms = 0;
  std::uint64_t version = 0;
  std::uint32_t attempt = 1;
  std::optional<Error> last_error;      // of the last Retry
  std::optional<Error> error;           // of the failure
  std::string result;
  std::string parked;                   // reason; empty: not parked
  std::string paused;                   // by which pause; empty: by none
  bool running = false;                 // a step of it runs at this moment
  WaitingOn waiting;
  std::vector<LockHeld> locks;
  std::vector<UndoEntry> undo;
  std::string data;                     // the durable data, serialised
  std::uint64_t nonce_group = 0;
  std::uint64_t nonce = 0;
};

struct LockWaiter {
  ProcId pid;
  LockMode mode = LockMode::kShared;
};
struct LockInfo {
  ResourceKey key;
  LockMode mode = LockMode::kShared;    // as held
  std::vector<ProcId> holders;
  std::vector<LockWaiter> waiters;      // in the order in which they will be served
};

// Who waits for whom: `from` cannot go on before `to` lets go or finishes.
struct WaitEdge {
  ProcId from;
  ProcId to;
  std::string why;   // "lock table t", "child", "behind in line for table t"
};
struct WaitForGraph {
  std::vector<WaitEdge> edges;
  // Procedures that wait for each other in a ring; each ring named once, starting with its lowest pid. Not empty means a defect.
  std::vector<std::vector<ProcId>> cycles;
  // The whole chain of one waiter, ending with somebody who does not wait: "7 -lock table t-> 3 -child-> 9".
  [[nodiscard]] std::string Chain(ProcId from) const;
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

// Who does something to a procedure, and why; recorded with it.
struct OperatorNote {
  std::string who;
  std::string why;
};

// Counters and durations of one type since the start of this process (the seed's ProcedureMetrics).
struct TypeMetrics {
  std::string type;
  std::uint64_t submitted = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  // Histogram of durations from submission to end: bucket i counts those below 2^i milliseconds (and not below 2^(i-1)).
  std::vector<std::uint64_t> duration_ms_log2;
};

}  // namespace ratchet::procedure
