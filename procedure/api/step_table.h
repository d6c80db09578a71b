// The step table: one row per state of a procedure type, checked at compile time and again at registration.
//
//   static constexpr auto Steps() { return std::array{
//       On<&CreateTable::Prepare>(1, "PREPARE", kNothingToUndo, Given("nothing has changed")),
//       On<&CreateTable::MakeLayout>(2, "WRITE_FS_LAYOUT", UndoBy<&CreateTable::ArchiveLayout>(), Given("...")),
//       On<&CreateTable::Assign>(3, "ASSIGN", kNoReturn, Spawns<TransitRegionState>(), kReleasesWhileChildrenRun, ...),
//   }; }
//
// Only the table knows the numbers: a step continues with `GoTo<&CreateTable::Assign>()`. The first row is the initial
// state. Numbers and names are stored and shown: never change or reuse them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/bits.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "procedure/api/event.h"

namespace ratchet::procedure {

// The outcomes of a step: a closed set, visited without a default.
//
// Durable before anything else happens: Next, Spawn, Await, Done, Fail, EndFailed (and the data that the step changed).
// Not durable: Retry, Yield and an in-memory Await (StepContext::AwaitAsync). The executor resets data that such a step
// changed to its durable content. So EVERY run of a step starts from durable data, and no step acts on something that a
// crash would forget.

// The stable number of a state in its type's step table; stored, never 0, never reused.
using StepNo = std::uint32_t;

class Procedure;
using ProcedurePtr = std::unique_ptr<Procedure>;

// Continue with `state`. Locks are kept.
struct Next {
  StepNo state = 0;
};

// Parent and children become durable in one batch. The parent continues with `resume_at` when the last child has
// succeeded. Children are new objects; no order among them may be relied upon. Without children it is a Next.
struct Spawn {
  StepNo resume_at = 0;
  std::vector<ProcedurePtr> children;
};

// Suspend until the ticket's event is woken, a report is absorbed, or `timeout` has passed (StepContext::timed_out).
// Then the SAME state runs again, as it does after a restart (the time-out then starts again, S13 (durations and
// derived counts)). Without a ticket it is a sleep that reports may cut short. `in_memory`: only through
// StepContext::AwaitAsync.
struct Await {
  std::optional<WaitTicket> ticket;
  std::optional<Millis> timeout;
  bool in_memory = false;
};

// Run the same state again later. The attempt number, `why` and the time of the next try are visible meanwhile. Without
// a `delay` the executor's backoff policy chooses one from the attempt number. When the state has used its attempts
// (`max_attempts`, or if that is 0 ExecutorOptions::retry_attempts), the outcome is Fail instead.
struct Retry {
  Error why;
  std::optional<Millis> delay = std::nullopt;
  std::uint32_t max_attempts = 0;
  std::optional<WaitTicket> sooner = std::nullopt;  // a wake-up of its event ends the delay
};

// Run the same state again, after the other procedures in the queue. It is the correct outcome for "interrupted", too.
struct Yield {};

// Succeeded. `result` is kept for the client until it is acknowledged or too old.
struct Done {
  std::string result;
};

// Undo the whole tree. After the tree's point of no return nothing can fail: such a Fail parks the procedure and shows
// `why`.
struct Fail {
  Error why;
};

// End with an error and with nothing to undo: only a root after its point of no return may do this, once it has cleaned
// up its own changes. The client receives the error. For any other procedure this outcome is a broken rule.
struct EndFailed {
  Error why;
};

// [[nodiscard]]: a dropped outcome is a compile error.
struct [[nodiscard]] StepOutcome : std::variant<Next, Spawn, Await, Retry, Yield, Done, Fail, EndFailed> {
  using variant::variant;
};

// Ends the enclosing step with the outcome of `expr`, if it has one. `expr` is an optional StepOutcome; the enclosing
// function returns a StepOutcome or an optional one.
#define RATCHET_STEP(expr)                                                                    \
  do {                                                                                        \
    if (auto&& ratchet_outcome = (expr); ratchet_outcome) return *std::move(ratchet_outcome); \
  } while (false)

// The outcome as stored in the step history and shown to humans. Append only.
enum class OutcomeKind : std::uint8_t {
  kNext = 1,
  kSpawn = 2,
  kAwait = 3,
  kRetry = 4,
  kYield = 5,
  kDone = 6,
  kFail = 7,
  kException = 8,
  kUndone = 9,
  kUndoFailed = 10,
  kEndFailed = 11,
};
[[nodiscard]] OutcomeKind KindOf(const StepOutcome& outcome);
[[nodiscard]] std::string_view OutcomeName(OutcomeKind kind);

class StepContext;

enum class UndoKind : std::uint8_t {
  kCall,            // `fn` undoes the step
  kNothing,         // the step leaves nothing to undo
  kPointOfNoReturn  // once this state is durable, nothing in the whole tree can fail or be undone
};
[[nodiscard]] std::string_view UndoKindName(UndoKind kind);

// An undo function neither spawns nor waits, is idempotent, and must cope with a step that did nothing or only a part
// (the step that failed, or that a crash may have interrupted, is undone too). An error is retried with backoff,
// without end.
template <class P>
struct Undo {
  UndoKind kind = UndoKind::kCall;  // without a function: a row without a declared undo, which is refused
  Status (P::*fn)(StepContext&) = nullptr;
};

// The types of children that a row may spawn, for the registry's check: a row that spawns a type with a point of no
// return must itself be one. Only such types need to be declared; spawning an undeclared one is refused at run time.
struct ChildTypes {
  std::array<std::string_view, 6> names{};
  std::size_t count = 0;
};
template <class... Children>
constexpr ChildTypes Spawns() {
  static_assert(sizeof...(Children) <= 6, "more child types than a row can declare");
  return {{Children::kTypeName...}, sizeof...(Children)};
}

// Lock policy of a row: which of the procedure's own locks are released when the row does not continue at once. The
// release is recorded, whatever HoldLocks returns (S16 (parent keeps child locks) still applies). The executor takes
// the locks again, and records that, before the next step.
enum class LockPolicy : std::uint8_t {
  kAsProcedureSays,           // Procedure::HoldLocks
  kReleasesWhileChildrenRun,  // released when the children that the row spawns are durable
  kReleasesBetweenTries       // released when the row returns Retry
};
[[nodiscard]] std::string_view LockPolicyName(LockPolicy policy);  // for --list-steps; empty: kAsProcedureSays

// Says whether the outcome of the state before has a commit of its own.
//
// kRunsOn: the row's function may run before the outcome that leads to it is durable, and both become durable in one
// commit, S147 (run on without acting). Its function decides and changes the procedure's data. It acts outside of this
// process only through StepContext::AsyncCall, or after StepContext::CheckOwner: until the earlier outcome is durable
// the first starts nothing and the second refuses, and the function runs again afterwards.
enum class CommitPolicy : std::uint8_t { kOwnCommit, kRunsOn };

// Conditions that must hold before the function of a row runs: bits whose meaning the host defines. The runner calls
// StateMachineProcedure::Require with them at the beginning of every run of the row, not before an undo.
using StepNeeds = Bits<struct StepNeedsTag>;

// Precondition of a row in words: the facts that hold whenever its function begins, also after a restart or an
// operator's rerun. Shown by --list-steps and on the page.
struct Precondition {
  std::string_view text;
};
constexpr Precondition Given(std::string_view text) { return {text}; }

template <class P>
struct Step {
  StepNo number = 0;
  std::string_view name;
  StepOutcome (P::*run)(StepContext&) = nullptr;
  Undo<P> undo;
  ChildTypes spawns;
  LockPolicy locks = LockPolicy::kAsProcedureSays;
  StepNeeds needs{};
  std::string_view given{};
  CommitPolicy commits = CommitPolicy::kOwnCommit;

  constexpr void Set(CommitPolicy policy) { commits = policy; }
  constexpr void Set(ChildTypes types) { spawns = types; }
  constexpr void Set(LockPolicy policy) { locks = policy; }
  constexpr void Set(StepNeeds conditions) { needs = conditions; }
  constexpr void Set(Precondition precondition) { given = precondition.text; }
};

// A row without its functions, as the registry, the sweeps and the operator's views see it.
struct StepRow {
  StepNo number = 0;
  std::string_view name;
  UndoKind undo = UndoKind::kNothing;
  ChildTypes spawns;
  LockPolicy locks = LockPolicy::kAsProcedureSays;
  std::string_view given = {};  // the precondition
  CommitPolicy commits = CommitPolicy::kOwnCommit;
};

// g++ does not compare functions with null, or with each other, at compile time under its undefined behaviour sanitizer
// (GCC bug 71962). The other builds do, and ProcedureRegistry::Verify checks the tables again.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kFunctionsAreCompared = false;
#else
inline constexpr bool kFunctionsAreCompared = true;
#endif

// Checks: numbers non-zero and unique, names non-empty and unique, every row with a function and a declared undo, no
// undo function after the first point of no return, and a row that releases locks for its children declares them.
template <class Rows>
consteval bool StepTableIsSound(const Rows& rows) {
  bool no_return = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].number == 0 || rows[i].name.empty()) return false;
    if constexpr (kFunctionsAreCompared) {
      if (rows[i].run == nullptr) return false;
      if ((rows[i].undo.kind == UndoKind::kCall) != (rows[i].undo.fn != nullptr)) return false;
    }
    if (rows[i].locks == LockPolicy::kReleasesWhileChildrenRun && rows[i].spawns.count == 0) return false;
    if (rows[i].undo.kind == UndoKind::kPointOfNoReturn) no_return = true;
    if (rows[i].undo.kind == UndoKind::kCall && no_return) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (rows[i].number == rows[j].number || rows[i].name == rows[j].name) return false;
    }
  }
  return rows.size() > 0;
}

// Every row has a precondition that is shown on one line. A host may require it of its types.
template <class Rows>
consteval bool StepTableHasPreconditions(const Rows& rows) {
  for (const auto& row : rows) {
    if (row.given.empty() || row.given.size() > 80 || row.given.find('\n') != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace ratchet::procedure
