#include "procedure/engine/results.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "procedure/engine/ending.h"
#include "procedure/engine/pause.h"

namespace ratchet::procedure {

void Acknowledge(ExecutorLock& held, ProcId pid) {
  const auto found = held->completed.find(pid);
  if (found != held->completed.end() && !found->second.acked) {
    found->second.acked = held.core().deps.clock.Now();
  }
}

void EvictResults(ExecutorLock& held) {
  const ExecutorOptions& options = held.options();
  const TimePoint now = held.core().deps.clock.Now();
  held->nonces.ForgetRefused(now - options.result_ttl, options.max_results);
  ForgetEndedPauses(held);
  std::vector<ProcId> gone;
  std::vector<std::pair<TimePoint, ProcId>> rest;
  for (const auto& [pid, completed] : held->completed) {
    const bool acked = completed.acked && now - *completed.acked >= options.acked_ttl;
    const bool old = now - completed.finished >= options.result_ttl;
    if (acked || old) {
      gone.push_back(pid);
    } else {
      rest.emplace_back(completed.finished, pid);
    }
  }
  if (rest.size() > options.max_results) {
    // Sorted by end time: a client may still wait for a procedure that was submitted long ago and has just ended.
    const std::size_t excess = rest.size() - options.max_results;
    std::nth_element(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(excess), rest.end());
    for (std::size_t i = 0; i < excess; ++i) gone.push_back(rest[i].second);
  }
  if (gone.empty()) return;
  for (const ProcId pid : gone) held->completed.erase(pid);
  StoreBatch batch;
  batch.deletes = gone;
  held.Commit(std::move(batch), {}, [gone](ExecutorLock& inner) {
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
