#include "procedure/pure/want.h"

namespace ratchet::procedure {

std::string_view WantName(Want want) {
  using enum Want;
  switch (want) {
    case kRun: return "run";
    case kRunAgain: return "run_again";
    case kChildren: return "children";
    case kEvent: return "event";
    case kOnce: return "once";
    case kRetry: return "retry";
    case kOperator: return "operator";
    case kUndo: return "undo";
    case kFinished: return "finished";
  }
  return "?";
}

Want WantByState(ProcState state) {
  using enum Want;
  switch (state) {
    case ProcState::kWaiting: return kChildren;
    case ProcState::kFailed: return kUndo;
    case ProcState::kSuccess:
    case ProcState::kRolledBack: return kFinished;
    case ProcState::kInitializing:
    case ProcState::kRunnable:
    case ProcState::kWaitingTimeout: return kRun;
  }
  return kRun;
}

}  // namespace ratchet::procedure
