// The parts and settings of an executor, given once at its construction, and the requests and results of its clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "procedure/api/procedure.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/views.h"
#include "procedure/api/worker_pool.h"

namespace ratchet::procedure {

class ProcedureStore;

// Maximum number of procedures of one resource that run a step at the same time; 0: no limit. Urgent ones are not
// limited. A region's procedures count for their table.
struct RunLimits {
  std::uint32_t per_table = 0;
  std::uint32_t per_server = 0;
  std::uint32_t per_peer = 0;
};

// The values of a client's request to the executor, and of the result. Any thread.

// A client's mark on a request, so that its repetition after a lost answer finds the same procedure. {0, 0} is none.
struct Nonce {
  std::uint64_t group = 0;
  std::uint64_t nonce = 0;
  [[nodiscard]] bool valid() const { return group != 0 || nonce != 0; }
  auto operator<=>(const Nonce&) const = default;
};

// Where a client's request came from, for people. Recorded with the root of a tree.
struct Origin {
  std::string peer;    // "address:port" of the client
  std::string method;  // the method by which it asked
  bool operator==(const Origin&) const = default;
};
inline constexpr std::size_t kMostOriginBytes = 128;  // of each text; the rest is not recorded

// The class of the error with which a procedure fails when its deadline is over; its code is kTimeout.
inline constexpr std::string_view kDeadlineClass = "org.apache.ratchet.ProcedureDeadlineException";

struct SubmitOptions {
  std::string owner;  // the requesting user; recorded and shown
  Nonce nonce;
  // Runs after the nonce was reserved and before anything is stored; its error is the answer. A final error is also the
  // answer to every later submission of the same nonce, until it is evicted. After another error the same nonce may try
  // again. Must not call the executor.
  std::function<Status()> pre_check;
  // Returns true for an error after which a client does not retry. Empty: by the error's code (IsFinal).
  std::function<bool(const Error&)> is_final{};
  // When the tree has not ended after this time, it fails (kDeadlineClass) and is undone, if it can still be undone; it
  // continues behind its point of no return. A load starts the time again, because no point in time is stored (S13:
  // durations and derived counts). 0: no deadline.
  Millis deadline{0};
  Origin origin{};
};

// Returns true if the code means that the request itself cannot be done; false if a retry may succeed.
[[nodiscard]] bool IsFinal(const Error& error);

// The known facts about a procedure's end.
struct ProcedureResult {
  enum class Status : std::uint8_t { kNotFound, kRunning, kSuccess, kFailed } status = Status::kNotFound;
  std::string result;          // kSuccess
  std::optional<Error> error;  // kFailed
  std::int64_t submitted_ms = 0;
  std::int64_t finished_ms = 0;
  [[nodiscard]] bool finished() const { return status == Status::kSuccess || status == Status::kFailed; }
};

// The parts that the executor works with; the host owns them, and they outlive the executor. Like the options, they are
// given once, at its construction.
struct ExecutorDeps {
  ProcedureStore& store;
  const ProcedureRegistry& registry;
  WorkerPool& workers;
  Clock& clock;
  Timers& timers;
  EnvRef env;
};

// The tables of the host itself, whose procedures precede those of other tables. Empty names: there are none.
struct SystemTables {
  std::string first;       // full name of the table that precedes all others
  std::string name_space;  // the namespace of the others
  [[nodiscard]] bool IsNamespace(const std::string& name) const { return !name_space.empty() && name == name_space; }
};

struct ExecutorOptions {
  std::uint64_t seed = 1;                                      // seed of jitter and of StepContext::prng
  std::string owner = "the host";                              // owner of procedures that are submitted without one
  BackoffPolicy retry{Millis{100}, Millis{10'000}, 2.0, 0.1};  // for Retry without a delay, and for an undo that failed
  std::uint32_t retry_attempts = 0;  // per state, where Retry names no budget; 0: unlimited. Undo is always retried
  std::size_t history_per_procedure = 32;  // entries kept, 0 to 1000: half of them the first ones, half the newest
  std::size_t activity_capacity = 4096;    // newest entries of the event stream; 0: none
  Millis acked_ttl{5 * 60 * 1000};         // a result stays this long after its acknowledgement
  Millis result_ttl{15 * 60 * 1000};       // and this long without one
  std::size_t max_results = 100'000;       // beyond it the oldest results are removed first; also the limit of refused
                                           // nonces
  Millis evict_interval{30 * 1000};
  RunLimits run_limits;  // steps of one table, server or peer at a time
  SystemTables system_tables;
  Millis stuck_check_interval{5 * 1000};  // interval of the monitor of stuck workers; 0: no monitor
  Millis stuck_threshold{10 * 1000};      // a step that runs longer counts as stuck
  Millis keep_alive{60 * 1000};           // idle life of a worker that the monitor added
  // If set, everything is paused from the load on, as by Pause (operator and reason are recorded), until an operator
  // resumes it.
  std::optional<OperatorNote> start_paused;
  bool measure_lock = false;  // measure how long the executor's lock is held (Executor::LongestHold)
  bool log_steps = true;      // one line per event of each procedure
  // The store could not write or is fenced: this process must stop acting as master. Called once.
  std::function<void(const Error&)> on_store_failure;
};

}  // namespace ratchet::procedure
