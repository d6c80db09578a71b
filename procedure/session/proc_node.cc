#include "procedure/session/proc_node.h"

#include <utility>

#include "common/base/check.h"

namespace ratchet::procedure {

namespace {

[[gnu::cold, gnu::noinline]] void RefuseMove(const ProcNode& node, Want want) {
  RATCHET_CHECK(false, "pid {} wants {} after {}", node.id.pid, WantName(want), WantName(node.want()));
}

}  // namespace

void SetIntent(ProcNode& node, Intent&& intent) {
  if (WantOf(intent) == Want::kRun && node.want() == Want::kRun) return;  // most steps: on to the next one
  if (!IsLegalMove(node.want(), WantOf(intent))) RefuseMove(node, WantOf(intent));
  const Wait* wait = WaitIn(node.intent);
  RATCHET_CHECK(wait == nullptr || wait->stage != Wait::Stage::kUnderWay, "pid {} leaves a wait that goes on",
                node.id.pid);
  node.intent = std::move(intent);
}

void ForgetRuns(ProcNode& node) {
  node.attempt = 1;
  node.last_error.reset();
  node.unrecorded_runs = 0;
}

void ResetStep(ProcNode& node) {
  ForgetRuns(node);
  node.timed_out = false;
  node.begun = false;
  if (node.once != nullptr) {
    node.once->Forget();
    node.once.reset();
  }
}

}  // namespace ratchet::procedure
