#include "procedure/engine/stuck_monitor.h"

#include "common/base/log.h"
#include "procedure/views/log_lines.h"

namespace ratchet::procedure {

WorkersInfo LookAtWorkers(Session& session) {
  const TimePoint now = session.core().deps.clock.Now();
  WorkersInfo info;
  info.workers = session.core().deps.workers.size();
  info.running = session->running.size();
  info.work_waits = session->scheduler.has_ready();
  for (const ProcNode* node : session->running) {
    const auto runs_for = std::chrono::duration_cast<Millis>(now - node->run_began);
    if (runs_for >= session.options().stuck_threshold) ++info.held;
    if (info.longest.valid() && runs_for <= info.longest_for) continue;
    info.longest = node->id.pid;
    info.longest_for = runs_for;
  }
  return info;
}

void CheckStuckWorkers(Session& session) {
  const TimePoint now = session.core().deps.clock.Now();
  const WorkersInfo info = LookAtWorkers(session);
  for (const ProcNode* node : session->running) {
    if (now - node->run_began < session.options().stuck_threshold) continue;
    RATCHET_LOG(kWarn, "worker stuck for {} ms in pid={} {}",
                std::chrono::duration_cast<Millis>(now - node->run_began).count(), node->id.pid, node->id.type);
  }
  if (info.held == 0 || !info.work_waits || info.held * 2 < info.workers) return;
  WorkerPool& workers = session.core().deps.workers;
  session.Later([&workers, keep = session.options().keep_alive] {
    if (workers.AddTemporary(keep)) RATCHET_LOG(kWarn, "added a worker, now {}", workers.size());
  });
}

}  // namespace ratchet::procedure
