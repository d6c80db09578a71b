#include "procedure/engine/proc_node.h"

#include <utility>

#include "common/base/check.h"

namespace ratchet::procedure {

namespace {

[[gnu::cold, gnu::noinline]] void RefuseMove(const ProcNode& node, NextActionKind kind) {
  RATCHET_CHECK(false, "pid {} wants {} after {}", node.id.pid, NextActionKindName(kind),
                NextActionKindName(node.next_kind()));
}

}  // namespace

void SetNextAction(ProcNode& node, NextAction&& next_action) {
  if (KindOf(next_action) == NextActionKind::kRun && node.next_kind() == NextActionKind::kRun)
    return;  // the common case: from one step to the next
  if (!IsLegalMove(node.next_kind(), KindOf(next_action))) RefuseMove(node, KindOf(next_action));
  const Wait* wait = WaitIn(node.next_action);
  RATCHET_CHECK(wait == nullptr || wait->stage != Wait::Stage::kUnderWay, "pid {} leaves a wait that is in progress",
                node.id.pid);
  node.next_action = std::move(next_action);
}

void ForgetRuns(ProcNode& node) {
  node.attempt = 1;
  node.last_error.reset();
  node.unrecorded_runs = 0;
}

void EnterSlot(std::vector<ProcNode*>& list, ProcNode& node) {
  node.running_slot = list.size();
  list.push_back(&node);
}

void LeaveSlot(std::vector<ProcNode*>& list, ProcNode& node) {
  list[node.running_slot] = list.back();
  list[node.running_slot]->running_slot = node.running_slot;
  list.pop_back();
}

void ForgetAsyncResults(ProcNode& node) {
  if (node.async_results == nullptr) return;
  node.async_results->Forget();
  node.async_results.reset();
}

void ResetStep(ProcNode& node) {
  ForgetRuns(node);
  node.timed_out = false;
  node.begun = false;
  ForgetAsyncResults(node);
}

}  // namespace ratchet::procedure
