#include "procedure/engine/results.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "procedure/engine/ending.h"
#include "procedure/engine/pause.h"

namespace ratchet::procedure {

void Acknowledge(Session& session, ProcId pid) {
  const auto found = session->completed.find(pid);
  if (found != session->completed.end() && !found->second.acked) {
    found->second.acked = session.core().deps.clock.Now();
  }
}

void EvictResults(Session& session) {
  const ExecutorOptions& options = session.options();
  const TimePoint now = session.core().deps.clock.Now();
  session->nonces.ForgetRefused(now - options.result_ttl, options.max_results);
  ForgetEndedPauses(session);
  std::vector<ProcId> gone;
  std::vector<std::pair<TimePoint, ProcId>> rest;
  for (const auto& [pid, completed] : session->completed) {
    const bool acked = completed.acked && now - *completed.acked >= options.acked_ttl;
    const bool old = now - completed.finished >= options.result_ttl;
    if (acked || old) {
      gone.push_back(pid);
    } else {
      rest.emplace_back(completed.finished, pid);
    }
  }
  if (rest.size() > options.max_results) {
    // By the time of their end: a client may still wait for what was submitted long ago and has just ended.
    const std::size_t excess = rest.size() - options.max_results;
    std::nth_element(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(excess), rest.end());
    for (std::size_t i = 0; i < excess; ++i) gone.push_back(rest[i].second);
  }
  if (gone.empty()) return;
  for (const ProcId pid : gone) session->completed.erase(pid);
  StoreBatch batch;
  batch.deletes = gone;
  session.Commit(std::move(batch), {}, [gone](Session& inner) {
    for (const ProcId pid : gone) {
      ProcNode* node = inner->tree.Find(pid);
      if (node == nullptr) continue;
      if (node->id.nonce_group != 0 || node->id.nonce != 0)
        inner->nonces.Forget({node->id.nonce_group, node->id.nonce});
      RemoveDescendants(inner, *node);
      inner->scheduler.Unbind(node->sched);
      inner->tree.Remove(*node);
    }
  });
}

}  // namespace ratchet::procedure
