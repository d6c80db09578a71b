#include "procedure/engine/stuck_monitor.h"

#include "common/base/log.h"
#include "procedure/views/log_lines.h"

namespace ratchet::procedure {

void CheckStuckWorkers(Session& session) {
  const TimePoint now = session.core().deps.clock.Now();
  std::size_t stuck = 0;
  for (const ProcNode* node : session->running) {
    if (now - node->run_began < session.options().stuck_threshold) continue;
    ++stuck;
    RATCHET_LOG(kWarn, "worker stuck for {} ms in pid={} {}",
                std::chrono::duration_cast<Millis>(now - node->run_began).count(), node->id.pid, node->id.type);
  }
  if (stuck == 0 || !session->scheduler.has_ready()) return;
  WorkerPool& workers = session.core().deps.workers;
  if (stuck * 2 < workers.size()) return;
  session.Later([&workers, keep = session.options().keep_alive] {
    if (workers.AddTemporary(keep)) RATCHET_LOG(kWarn, "added a worker, now {}", workers.size());
  });
}

}  // namespace ratchet::procedure
