#include "procedure/engine/stuck_monitor.h"

#include "common/base/log.h"
#include "procedure/engine/log_lines.h"

namespace ratchet::procedure {

WorkersInfo LookAtWorkers(const HeldState& held) {
  const TimePoint now = held.core().deps.clock.Now();
  WorkersInfo info;
  info.workers = held.core().deps.workers.size();
  info.running = held->running.size();
  info.work_waits = held->scheduler.has_ready() || !held->resumed.empty();
  for (const ProcNode* node : held->running) {
    const auto runs_for = std::chrono::duration_cast<Millis>(now - node->run_began);
    if (runs_for >= held.options().stuck_threshold) ++info.held;
    if (info.longest.valid() && runs_for <= info.longest_for) continue;
    info.longest = node->id.pid;
    info.longest_for = runs_for;
  }
  for (const ProcNode* node : held->staying) {
    const auto stays_for = std::chrono::duration_cast<Millis>(now - node->step_began);
    if (stays_for < held.options().stuck_threshold) continue;
    ++info.staying;
    if (info.longest_staying.valid() && stays_for <= info.longest_stay) continue;
    info.longest_staying = node->id.pid;
    info.longest_stay = stays_for;
    info.longest_work = node->async_results->Pending();
  }
  return info;
}

void CheckStuckWorkers(ExecutorLock& held) {
  const TimePoint now = held.core().deps.clock.Now();
  const WorkersInfo info = LookAtWorkers(held);
  for (const ProcNode* node : held->running) {
    if (now - node->run_began < held.options().stuck_threshold) continue;
    RATCHET_LOG(kWarn, "worker stuck for {} ms in pid={} {}",
                std::chrono::duration_cast<Millis>(now - node->run_began).count(), node->id.pid, node->id.type);
  }
  if (info.staying > 0) {
    RATCHET_LOG(kWarn, "{} steps wait for their own work, pid={} for {} ms for {}", info.staying, info.longest_staying,
                info.longest_stay.count(), info.longest_work);
  }
  if (info.held == 0 || !info.work_waits || info.held * 2 < info.workers) return;
  WorkerPool& workers = held.core().deps.workers;
  held.Later([&workers, keep = held.options().keep_alive] {
    if (workers.AddTemporary(keep)) RATCHET_LOG(kWarn, "added a worker, now {}", workers.size());
  });
}

}  // namespace ratchet::procedure
