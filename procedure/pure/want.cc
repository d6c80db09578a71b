#include "procedure/pure/want.h"

#include "common/base/state_moves.h"

namespace ratchet::procedure {
namespace {

using enum Want;

// Wherever a procedure stands it can be parked, fail with its tree, or be ended by a bypass.
constexpr StateSet<Want> MovesFrom(Want from) {
  switch (from) {
    case kRun: return {kRunAgain, kChildren, kEvent, kOnce, kRetry, kOperator, kUndo, kFinished};
    case kRunAgain:
    case kChildren:
    case kEvent:
    case kOnce:
    case kRetry: return {kRun, kOperator, kUndo, kFinished};
    case kOperator: return {kRun, kChildren, kUndo, kFinished};
    case kUndo: return {kOperator, kFinished};
    case kFinished: return {};
  }
  return {};
}

}  // namespace

std::string_view WantName(Want want) {
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

bool IsLegalMove(Want from, Want to) { return MayGo(from, to, MovesFrom(from)); }

}  // namespace ratchet::procedure
