// The settings of the framework of procedures in this process: its workers, its executor and its store.
#pragma once

#include "procedure/api/executor_options.h"
#include "procedure/api/wal_store.h"
#include "procedure/api/worker_pool.h"

namespace ratchet::master {

// Four functions, because --help lists other parts' settings in between.
struct ProcedureOptions {
  ProcedureOptions() { executor.retry.cap = Millis{2'000}; }

  procedure::ThreadWorkersOptions workers;
  procedure::ExecutorOptions executor;
  procedure::WalStoreOptions store;

  template <class Settings>
  void BindWorkers(Settings& settings) {
    settings.AddInt({"procedure-threads",
                     "Number of workers that run procedures; one more is reserved for meta and crash handling.",
                     {"hbase.master.procedure.threads"}},
                    &workers.workers, {1, 1000});
    settings.AddInt({"procedure-steps-per-table",
                     "Maximum number of concurrent procedure steps of one table, its regions included; more steps wait "
                     "in a queue. 0: no limit.",
                     {}},
                    &executor.run_limits.per_table, {0, 1000});
    settings.AddInt({"procedure-steps-per-server",
                     "Maximum number of concurrent procedure steps of one region server. Crash handling is never "
                     "limited. 0: no limit.",
                     {}},
                    &executor.run_limits.per_server, {0, 1000});
    settings.AddInt({"procedure-steps-per-peer",
                     "Maximum number of concurrent procedure steps of one replication peer. 0: no limit.",
                     {}},
                    &executor.run_limits.per_peer, {0, 1000});
  }

  template <class Settings>
  void BindMeasuring(Settings& settings) {
    settings.AddBool({"measure-procedure-lock",
                      "Measures how long the lock of the procedure executor is held, and shows the longest time as the "
                      "metric ratchet_procedure_lock_longest_hold_seconds. Costs two reads of the clock for each use.",
                      {}},
                     &executor.measure_lock);
  }

  template <class Settings>
  void BindRetry(Settings& settings) {
    settings.AddMillis({"retry-max-ms",
                        "Longest pause between two attempts of a procedure's step, so also the longest delay after its "
                        "obstacle is gone.",
                        {}},
                       &executor.retry.cap, Millis(100), Millis(600'000));
  }

  template <class Settings>
  void BindStore(Settings& settings) {
    settings.AddBytes({"store-segment-bytes",
                       "Size at which a segment of the procedure store is rolled.",
                       {"hbase.procedure.store.wal.roll.threshold"}},
                      &store.segment_bytes, 64u << 10, 1u << 30);
    settings.AddMillis({"store-segment-age-ms",
                        "Age at which a segment of the procedure store is rolled.",
                        {"hbase.procedure.store.wal.periodic.roll.msec"}},
                       &store.segment_age, Millis(1'000), Millis(86'400'000));
  }

  template <class Settings>
  void BindResults(Settings& settings) {
    settings.AddMillis({"procedure-result-ttl-ms",
                        "How long the result of an ended procedure is kept for its client.",
                        {"hbase.procedure.cleaner.evict.ttl"}},
                       &executor.result_ttl, Millis(1'000), Millis(86'400'000));
    settings.AddMillis({"procedure-acked-result-ttl-ms",
                        "How long a result is kept after its client has acknowledged it.",
                        {"hbase.procedure.cleaner.acked.evict.ttl"}},
                       &executor.acked_ttl, Millis(0), Millis(86'400'000));
    settings.AddMillis({"procedure-result-eviction-interval-ms",
                        "Interval of the checks for older results.",
                        {"hbase.procedure.cleaner.interval"}},
                       &executor.evict_interval, Millis(100), Millis(3'600'000));
  }
};

}  // namespace ratchet::master
