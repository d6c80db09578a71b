#include "procedure/api/step_table.h"

namespace ratchet::procedure {

namespace {

// One overload per alternative and no generic one: an alternative without an overload does not compile.
struct KindVisitor {
  OutcomeKind operator()(const Next&) const { return OutcomeKind::kNext; }
  OutcomeKind operator()(const Spawn&) const { return OutcomeKind::kSpawn; }
  OutcomeKind operator()(const Await&) const { return OutcomeKind::kAwait; }
  OutcomeKind operator()(const Retry&) const { return OutcomeKind::kRetry; }
  OutcomeKind operator()(const Yield&) const { return OutcomeKind::kYield; }
  OutcomeKind operator()(const Done&) const { return OutcomeKind::kDone; }
  OutcomeKind operator()(const Fail&) const { return OutcomeKind::kFail; }
  OutcomeKind operator()(const EndFailed&) const { return OutcomeKind::kEndFailed; }
};

}  // namespace

OutcomeKind KindOf(const StepOutcome& outcome) { return std::visit(KindVisitor{}, outcome); }

std::string_view OutcomeName(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kNext: return "next";
    case OutcomeKind::kSpawn: return "spawn";
    case OutcomeKind::kAwait: return "await";
    case OutcomeKind::kRetry: return "retry";
    case OutcomeKind::kYield: return "yield";
    case OutcomeKind::kDone: return "done";
    case OutcomeKind::kFail: return "fail";
    case OutcomeKind::kException: return "exception";
    case OutcomeKind::kUndone: return "undone";
    case OutcomeKind::kUndoFailed: return "undo failed";
    case OutcomeKind::kEndFailed: return "end failed";
  }
  return "unknown";
}

}  // namespace ratchet::procedure
