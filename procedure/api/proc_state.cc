#include "procedure/api/proc_state.h"

#include "common/base/check.h"
#include "common/base/state_moves.h"

namespace ratchet::procedure {
namespace {

using enum ProcState;

StateSet<ProcState> MovesFrom(ProcState from) {
  switch (from) {
    case kInitializing: return {kRunnable};
    case kRunnable: return {kWaiting, kWaitingTimeout, kSuccess, kFailed};
    case kWaiting:
      return {kRunnable, kSuccess, kFailed};  // runnable when the last child has ended; a bypass ends it at once
    case kWaitingTimeout: return {kRunnable, kSuccess, kFailed};  // the step that waited runs again, and may end it
    case kFailed: return {kRolledBack};
    case kSuccess: return {kRolledBack};  // a child, undone with its tree; a root never leaves SUCCESS
    case kRolledBack: return {};
  }
  return {};
}

}  // namespace

std::string_view ProcStateName(ProcState state) {
  switch (state) {
    case kInitializing: return "INITIALIZING";
    case kRunnable: return "RUNNABLE";
    case kWaiting: return "WAITING";
    case kWaitingTimeout: return "WAITING_TIMEOUT";
    case kRolledBack: return "ROLLEDBACK";
    case kSuccess: return "SUCCESS";
    case kFailed: return "FAILED";
  }
  return "UNKNOWN";
}

bool IsLegalMove(ProcState from, ProcState to) { return MayGo(from, to, MovesFrom(from)); }

void MoveTo(ProcState& state, ProcState to) {
  RATCHET_CHECK(IsLegalMove(state, to), "illegal move of a procedure: {} to {}", ProcStateName(state),
                ProcStateName(to));
  state = to;
}

}  // namespace ratchet::procedure
