#include "procedure/session/proc_node.h"

namespace ratchet::procedure {

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
