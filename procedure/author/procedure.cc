#include "procedure/author/procedure.h"

namespace ratchet::procedure {

std::string_view UndoKindName(UndoKind kind) {
  switch (kind) {
    case UndoKind::kCall: return "undo";
    case UndoKind::kNothing: return "nothing to undo";
    case UndoKind::kPointOfNoReturn: return "point of no return";
  }
  return "unknown";
}

std::string_view ProcStateName(ProcState state) {
  switch (state) {
    case ProcState::kInitializing: return "INITIALIZING";
    case ProcState::kRunnable: return "RUNNABLE";
    case ProcState::kWaiting: return "WAITING";
    case ProcState::kWaitingTimeout: return "WAITING_TIMEOUT";
    case ProcState::kRolledBack: return "ROLLEDBACK";
    case ProcState::kSuccess: return "SUCCESS";
    case ProcState::kFailed: return "FAILED";
  }
  return "UNKNOWN";
}

Absorbed Procedure::Absorb(std::string_view /*message*/) {
  return Absorbed::Stale(std::string(type_name()) + " takes no reports");
}

const StepRow* Procedure::FindRow(StepNo step) const {
  for (const StepRow& row : rows()) {
    if (row.number == step) return &row;
  }
  return nullptr;
}

}  // namespace ratchet::procedure
