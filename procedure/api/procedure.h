// A unit of durable work: the base of every procedure type. Authors derive from StateMachineProcedure (same folder).
//
// Life: Submit -> (run one step, commit)* -> SUCCESS | ROLLEDBACK. The durable data is one message; nothing else
// survives a restart. Threads: the executor does one thing at a time with one procedure (a step, an absorbed report, an
// undo, an operator's verb), on any thread, without holding its own lock. So a procedure needs no lock. Locks(),
// Describe() and the other const functions may be called between steps. Idempotency: a step may run again after a
// crash, a Retry or a wake-up. The state that runs is always already durable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>

#include "common/base/check.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/api/description.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/proc_state.h"
#include "procedure/api/step_table.h"

namespace ratchet::procedure {

// A typed reference to the environment that the host gives its procedures (the master's environment, a test's journal).
// Does not own the object. It is a programming error to ask for another type than the one that was stored.
class EnvRef {
 public:
  EnvRef() = default;
  template <class T>
  static EnvRef Of(T& env) {
    EnvRef ref;
    ref.env_ = &env;
    ref.type_ = &typeid(T);
    return ref;
  }
  template <class T>
  [[nodiscard]] T& As() const {
    RATCHET_CHECK(type_ != nullptr && *type_ == typeid(T), "environment is {}, not {}",
                  type_ == nullptr ? "absent" : type_->name(), typeid(T).name());
    return *static_cast<T*>(env_);
  }

 private:
  void* env_ = nullptr;
  const std::type_info* type_ = nullptr;
};

// Scheduling class, served strictly in this order; the table class has three ranks. kByLocks derives the class from
// Locks(): the first of cluster, meta, server, peer that is locked exclusively or shared, else table (its rank follows
// from ExecutorOptions::system_tables). Procedures of the classes cluster, meta, server and kTableMeta are urgent: they
// and their descendants may run on the capacity that is reserved for work that must progress when every other worker is
// stuck.
enum class Priority : std::uint8_t { kByLocks, kCluster, kMeta, kServer, kPeer, kTableMeta, kTableSystem, kTableUser };

// The result of absorbing a report from outside.
struct Absorbed {
  enum class Kind : std::uint8_t { kTaken, kStale } kind = Kind::kStale;
  std::string reason;  // for kStale: the expected value
  static Absorbed Taken() { return {Kind::kTaken, {}}; }
  static Absorbed Stale(std::string why) { return {Kind::kStale, std::move(why)}; }
  [[nodiscard]] bool taken() const { return kind == Kind::kTaken; }
};

// How a procedure ended, for the hooks.
struct FinishInfo {
  bool success = false;
  const Error* error = nullptr;           // null on success
  std::chrono::milliseconds duration{0};  // wall clock from submission, across masters
};

// Progress: how many equal parts of the work (for example regions of a table) remain, and how many there are in all.
struct PartsLeft {
  std::uint64_t left = 0;
  std::uint64_t total = 0;
};

class Procedure {
 public:
  Procedure() = default;
  virtual ~Procedure() = default;
  Procedure(const Procedure&) = delete;
  Procedure& operator=(const Procedure&) = delete;

  // Stored: it never changes. The string lives as long as the program (so do the names in rows()).
  [[nodiscard]] virtual std::string_view type_name() const = 0;
  // Version of the data's meaning. A record with a newer version than this parks its procedure.
  [[nodiscard]] virtual std::uint32_t data_version() const { return 1; }
  [[nodiscard]] virtual std::span<const StepRow> rows() const = 0;

  // A pure function of the durable data. It must return the same set for as long as the lock is held.
  [[nodiscard]] virtual LockSet Locks() const { return {}; }
  // True: Locks() returns many locks and is the same before the procedure has its pid. The executor calls it before it
  // takes its own lock, because no other procedure can continue meanwhile.
  [[nodiscard]] virtual bool HasManyLocks() const { return false; }
  // If true, the lock is kept from the first step to the end, unless a row of the step table has another LockPolicy.
  // If false, the lock is kept across consecutive Nexts and released at Await, Spawn, Retry and Yield. It is not
  // released while the tree can still be undone and this procedure has steps to undo, the current step included, S16
  // (parent keeps child locks).
  [[nodiscard]] virtual bool HoldLocks() const { return false; }
  [[nodiscard]] virtual Priority priority() const { return Priority::kByLocks; }

  // Folds a report from outside into the data. Called on a COPY, without side effects: the executor commits the copy,
  // swaps it in, wakes the procedure, and only then lets the reporter be answered. Default: refuses the report.
  [[nodiscard]] virtual Absorbed Absorb(std::string_view message);
  // The attempt number that a report must carry to be accepted, S20 (answers are repeated). nullopt: the procedure
  // accepts no reports, and a report for it is an error, never dropped.
  [[nodiscard]] virtual std::optional<std::uint32_t> AwaitedAttempt() const { return std::nullopt; }

  // Called by Submit and Spawn before anything is stored: refuses data that can never work. Default: accepts.
  [[nodiscard]] virtual Status CheckInitial() const { return Ok(); }

  // Ok if an operator may end this procedure now, or send it to another step. A procedure with an unsettled order to
  // another process must return an error until the addressee has answered or is fenced, S17 (answer or fence settles an
  // order). Default: ok.
  [[nodiscard]] virtual Status CheckBypass() const { return Ok(); }

  // For log lines and listings, after the type name: "table=t, region=56f9..., ASSIGN; target=...".
  [[nodiscard]] virtual Description Describe() const { return {}; }
  // Returns Describe() for the log line of the start; a type may add what the environment has at that moment. Called
  // before its first step, on the thread of that step.
  [[nodiscard]] virtual Description DescribeStart(const EnvRef& /*env*/) const { return Describe(); }
  // Progress for listings and for clients that wait. nullopt: unknown.
  [[nodiscard]] virtual std::optional<PartsLeft> Parts() const { return std::nullopt; }

  // Hooks (HBase's updateMetricsOnSubmit and updateMetricsOnFinish). OnFinished is called on failure too, and `info`
  // shows the failure: a hook for success that ran after a failure was HBASE-19953. Each hook is called at most once,
  // after the commit, on a COPY made of the committed data, without a lock of the executor, one at a time and in the
  // order of the commits. It must be quick and may call what a callback may (executor.h). An exception from a hook is
  // logged and counted (TypeMetrics::hook_errors); it has no other effect.
  virtual void OnSubmitted() const {}
  virtual void OnFinished(const FinishInfo& /*info*/) const {}

  // Rebuilds what the procedure keeps outside its data (e.g. its region's "owned by" mark). Called during
  // Executor::Recover, after all locks are restored and before any worker runs. Parents before children.
  virtual void OnRecovered(const EnvRef& /*env*/) {}
  // Called in the same way for a child that has succeeded and whose result its parent has not read: the parent's data
  // does not show yet what the child has changed.
  virtual void OnRecoveredUnread(const EnvRef& /*env*/) {}

  // For the framework; StateMachineProcedure implements them.
  [[nodiscard]] virtual bool HasHooks() const { return true; }  // false: the two above need not be called
  [[nodiscard]] virtual StepOutcome RunStep(StepNo step, StepContext& ctx) = 0;
  [[nodiscard]] virtual Status UndoStep(StepNo step, StepContext& ctx) = 0;
  [[nodiscard]] virtual std::string SerializeData() const = 0;
  [[nodiscard]] virtual bool ParseData(std::string_view bytes) = 0;  // false: the bytes are not such a message

  // Null when the table has no such row.
  [[nodiscard]] const StepRow* FindRow(StepNo step) const;

  // Set by the executor before the first step and never again.
  [[nodiscard]] ProcId pid() const { return pid_; }
  [[nodiscard]] ProcId parent_pid() const { return parent_pid_; }
  [[nodiscard]] ProcId root_pid() const { return root_pid_; }

 private:
  friend class ProcedureIdentity;
  ProcId pid_;
  ProcId parent_pid_;
  ProcId root_pid_;
};

}  // namespace ratchet::procedure
