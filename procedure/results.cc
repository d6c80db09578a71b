#include "procedure/results.h"

#include <algorithm>
#include <vector>

#include "procedure/pause.h"
#include "procedure/progress.h"

namespace ratchet::procedure {

void Acknowledge(Session& session, ProcId pid) {
  const auto found = session->completed.find(pid);
  if (found != session->completed.end() && !found->second.acked) {
    found->second.acked = session.core().deps.clock.Now();
  }
}

void EvictResults(Session& session) {
  const Executor::Options& options = session.options();
  const TimePoint now = session.core().deps.clock.Now();
  session->nonces.ForgetRefusedBefore(now - options.result_ttl);
  ForgetEndedPauses(session);
  std::size_t too_many =
      session->completed.size() > options.max_results ? session->completed.size() - options.max_results : 0;
  std::vector<ProcId> gone;
  for (const auto& [pid, completed] : session->completed) {  // the lowest pids are about the oldest
    const bool acked = completed.acked && now - *completed.acked >= options.acked_ttl;
    const bool old = now - completed.finished >= options.result_ttl;
    if (!acked && !old && too_many == 0) continue;
    if (too_many > 0) --too_many;
    gone.push_back(pid);
  }
  if (gone.empty()) return;
  for (const ProcId pid : gone) session->completed.erase(pid);
  StoreBatch batch;
  batch.deletes = gone;
  session.Commit(std::move(batch), {}, [gone](Session& inner) {
    for (const ProcId pid : gone) {
      ProcNode* node = inner->tree.Find(pid);
      if (node == nullptr) continue;
      if (node->id.nonce_group != 0 || node->id.nonce != 0) inner->nonces.Forget({node->id.nonce_group, node->id.nonce});
      RemoveDescendants(inner, *node);
      inner->scheduler.Unbind(node->sched);
      inner->tree.Remove(*node);
    }
  });
}

}  // namespace ratchet::procedure
