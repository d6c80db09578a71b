// The parts and settings of an executor: given once, at its construction, constant afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "procedure/api/env_ref.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/run_limits.h"
#include "procedure/api/views.h"
#include "procedure/api/worker_pool.h"

namespace ratchet::procedure {

class ProcedureStore;

// The parts that the executor works with; the host owns them, and they outlive the executor.
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
  bool log_steps = true;  // one line per event of each procedure
  // The store could not write or is fenced: this process must stop acting as master. Called once.
  std::function<void(const Error&)> on_store_failure;
};

}  // namespace ratchet::procedure
