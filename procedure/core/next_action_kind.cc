#include "procedure/core/next_action_kind.h"

namespace ratchet::procedure {

std::string_view NextActionKindName(NextActionKind kind) {
  using enum NextActionKind;
  switch (kind) {
    case kRun: return "run";
    case kRunAgain: return "run_again";
    case kChildren: return "children";
    case kEvent: return "event";
    case kAsync: return "async";
    case kRetry: return "retry";
    case kOperator: return "operator";
    case kUndo: return "undo";
    case kFinished: return "finished";
  }
  return "?";
}

NextActionKind NextActionKindByState(ProcState state) {
  using enum NextActionKind;
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
