#include "procedure/session/proc_node.h"

#include <utility>

#include "common/base/check.h"

namespace ratchet::procedure {

void SetIntent(ProcNode& node, Intent intent) {
  RATCHET_CHECK(IsLegalMove(node.want(), WantOf(intent)), "pid {} wants {} after {}", node.id.pid,
                WantName(WantOf(intent)), WantName(node.want()));
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
