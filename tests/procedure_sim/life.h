// One master of the simulation.
#pragma once

#include <memory>

#include "procedure/api/executor.h"
#include "tests/procedure_sim/simulation.h"
#include "tests/support/manual_time.h"

namespace ratchet::sim {

inline procedure::Executor::Options SimExecutorOptions(std::uint64_t seed, bool trace, bool paused) {
  procedure::Executor::Options options;
  options.seed = seed;
  options.history_per_procedure = 2;
  options.evict_interval = Millis{400};
  options.stuck_check_interval = Millis{0};
  options.acked_ttl = Millis{0};
  options.log_steps = trace;
  if (paused) options.start_paused = procedure::OperatorNote{"sim", "started paused"};
  return options;
}

struct Simulation::Life {
  Life(Medium& medium, const procedure::ProcedureRegistry& registry, testing::Journal& journal, std::uint64_t seed,
       bool trace, bool paused = false)
      : store(medium.Open()),
        executor({*store, registry, workers, time, time, procedure::EnvRef::Of(journal)},
                 SimExecutorOptions(seed, trace, paused)) {}

  ManualTime time;  // starts at zero, because no deadline is stored
  std::unique_ptr<StoreDouble> store;
  procedure::ManualWorkers workers;
  procedure::Executor executor;
};

}  // namespace ratchet::sim
