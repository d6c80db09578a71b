#include "procedure/engine/ending.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "procedure/engine/observe.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {

void Finish(ExecutorLock& held, ProcNode& node) {
  SetNextAction(node, Ended{});
  SetInheritsChildLocks(held, node, false);
  node.wanted.reset();
  NoteEnded(held, node);
  if (node.parent != nullptr) {
    if (--node.parent->unfinished_children == 0 && node.parent->next_kind() == NextActionKind::kChildren &&
        !IsBusy(node.parent->phase)) {
      held.Ready(*node.parent);
    }
  } else {
    held->completed[node.id.pid].finished = held.core().deps.clock.Now();
  }
}

void RemoveDescendants(ExecutorLock& held, ProcNode& node) {
  std::vector<ProcNode*> members = ProcedureTree::Subtree(node);
  for (std::size_t i = members.size(); i > 1; --i) {
    ProcNode& member = *members[i - 1];
    held->scheduler.Unbind(member.sched);
    SetInheritsChildLocks(held, member, false);
    held->tree.Remove(member);
  }
}

std::vector<ProcId> DescendantsToDelete(ProcNode& node) {
  std::vector<ProcId> pids;
  for (const ProcNode* member : ProcedureTree::Subtree(node)) {
    if (member != &node) pids.push_back(member->id.pid);
  }
  return pids;
}

void RefuseReports(ExecutorLock& held, ProcNode& node, std::string_view why) {
  for (PendingReport& report : node.reports) {
    if (!report.done) continue;
    held.Later([done = std::move(report.done), text = fmt::format("pid {} {}", node.id.pid, why)] {
      done(Absorbed::Stale(text));
    });
  }
  node.reports.clear();
}

void RefuseVerb(ExecutorLock& held, ProcId pid, VerbRequest request) {
  held.Later([done = std::move(request.done), pid] {
    done(Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", pid)));
  });
}

void RefuseVerbs(ExecutorLock& held, ProcNode& node) {
  for (VerbRequest& request : std::exchange(node.verbs, {})) RefuseVerb(held, node.id.pid, std::move(request));
}

void AnswerAbort(ExecutorLock& held, ProcNode& root, const Status& answer) {
  if (!root.abort) return;
  for (auto& done : root.abort->done) held.Later([done = std::move(done), answer] { done(answer); });
  root.abort.reset();
}

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

namespace {

ProcId NextUsed(const CoreState& state, ProcId pid) {
  if (pid.Next() >= state.first_new_pid) return pid.Next();
  const auto next = std::upper_bound(state.loaded_pids.begin(), state.loaded_pids.end(), pid);
  return next == state.loaded_pids.end() ? state.first_new_pid : *next;
}

}  // namespace

ProcId LowestLive(ExecutorLock& held) {
  CoreState& state = held.state();
  ProcId& lowest = state.lowest_live;
  while (lowest <= state.max_pid) {
    const ProcNode* node = state.tree.Find(lowest);
    if (node != nullptr && !IsTerminal(node->durable.state)) break;
    if (state.inserting.contains(lowest) && !RATCHET_MUTANT("procedure.floor_passes_inserts")) break;
    lowest = NextUsed(state, lowest);
  }
  return lowest;
}

}  // namespace ratchet::procedure
