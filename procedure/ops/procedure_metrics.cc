#include "procedure/ops/procedure_metrics.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "procedure/api/wal_store.h"

namespace ratchet::host {
namespace {

using metrics::MetricsText;

double Seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000.0; }

void AddProcedureTypes(MetricsText& text, const procedure::Executor& executor) {
  const auto types = executor.Metrics();
  text.Counter("procedures_submitted_total", "Procedures that were submitted or spawned, by type.");
  for (const auto& type : types) text.Value(type.submitted, {{"type", type.type}});
  text.Counter("procedures_finished_total", "Procedures that have ended, by type and outcome.");
  for (const auto& type : types) {
    text.Value(type.succeeded, {{"type", type.type}, {"outcome", "success"}});
    text.Value(type.failed, {{"type", type.type}, {"outcome", "failure"}});
  }
  text.Counter("procedure_hook_errors_total", "Hooks and listeners of procedures that have thrown, by type.");
  for (const auto& type : types) text.Value(type.hook_errors, {{"type", type.type}});
  text.Histogram("procedure_duration_seconds",
                 "Time from the submission of a procedure to its end, by type; its sum is a lower bound.");
  for (const auto& type : types) {
    // Bucket i counts durations below 2^i ms; longer ones than the last bucket go to +Inf.
    constexpr std::size_t kSteps = 24;  // up to 2.3 hours
    std::vector<double> ends;
    std::vector<std::uint64_t> counts(kSteps + 1);
    double sum = 0;
    for (std::size_t i = 0; i < kSteps; ++i) ends.push_back(Seconds(std::int64_t{1} << i));
    for (std::size_t i = 0; i < type.duration_ms_log2.size(); ++i) {
      counts[std::min(i, kSteps)] += type.duration_ms_log2[i];
      if (i > 0) sum += static_cast<double>(type.duration_ms_log2[i]) * Seconds(std::int64_t{1} << (i - 1));
    }
    text.Buckets(ends, counts, sum, {{"type", type.type}});
  }
}

}  // namespace

void AddProcedures(MetricsText& text, const procedure::Executor& executor, std::uint32_t stuck_attempts) {
  AddProcedureTypes(text, executor);
  const procedure::ProcedureCounts counts = executor.Count(stuck_attempts);
  text.Gauge("procedures_unfinished", "Procedures that have not ended.", static_cast<double>(counts.unfinished));
  text.Gauge("procedures_stuck", "Procedures that are parked, or whose step was tried more than three times.",
             static_cast<double>(counts.stuck));
  if (const auto hold = executor.LongestHold()) {
    text.Gauge("procedure_lock_longest_hold_seconds",
               "Longest time for which the executor's lock was held since the start.",
               std::chrono::duration<double>(*hold).count());
  }
  text.Gauge("procedures_paused", "Active pauses of operators.", static_cast<double>(executor.Pauses().size()));
}

void AddStore(MetricsText& text, const procedure::StoreMetrics& store, bool admits) {
  text.Counter("store_batches_total", "Commits that were written to the procedure store.", store.batches);
  text.Counter("store_records_total", "Records that were written to the procedure store.", store.records);
  text.Counter("store_written_bytes_total", "Bytes that were written to the procedure store.", store.bytes_written);
  text.Counter("store_rewritten_records_total", "Records that were rewritten so that an old segment can be removed.",
               store.rewritten_records);
  text.Counter("store_rolls_total", "Segments that were begun after the first one.", store.rolls);
  text.Histogram("store_sync_duration_seconds", "Syncs of the procedure store.");
  text.Durations(procedure::StoreSyncTimes().Look());
  text.Gauge("store_segments", "Segments in use.", static_cast<double>(store.segments));
  text.Gauge("store_live_records", "Records that the next master needs.", static_cast<double>(store.live_records));
  text.Gauge("store_commits_in_flight", "Commits that are not durable yet.", static_cast<double>(store.in_flight));
  text.Gauge("store_admits", "1 while the store takes new work; 0: the disk is nearly full.", admits ? 1 : 0);
}

}  // namespace ratchet::host
