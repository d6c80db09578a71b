#include "procedure/api/procedure.h"

namespace ratchet::procedure {

std::string_view UndoKindName(UndoKind kind) {
  switch (kind) {
    case UndoKind::kCall: return "undo";
    case UndoKind::kNothing: return "nothing to undo";
    case UndoKind::kPointOfNoReturn: return "point of no return";
  }
  return "unknown";
}

std::string_view LockPolicyName(LockPolicy policy) {
  switch (policy) {
    case LockPolicy::kAsProcedureSays: return "";
    case LockPolicy::kReleasesWhileChildrenRun: return "releases locks while children run";
    case LockPolicy::kReleasesBetweenTries: return "releases locks between tries";
  }
  return "unknown";
}

Absorbed Procedure::Absorb(std::string_view /*message*/) {
  return Absorbed::Stale(std::string(type_name()) + " accepts no reports");
}

const StepRow* Procedure::FindRow(StepNo step) const {
  for (const StepRow& row : rows()) {
    if (row.number == step) return &row;
  }
  return nullptr;
}

}  // namespace ratchet::procedure
