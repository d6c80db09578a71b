#include "procedure/author/proc_state.h"

#include <algorithm>
#include <span>

#include "common/base/check.h"

namespace ratchet::procedure {
namespace {

using enum ProcState;

std::span<const ProcState> MovesFrom(ProcState from) {
  static constexpr std::array kFromInitializing{kRunnable};
  static constexpr std::array kFromRunnable{kWaiting, kWaitingTimeout, kSuccess, kFailed};
  // Back when the last child has ended; a bypass ends it at once.
  static constexpr std::array kFromWaiting{kRunnable, kSuccess, kFailed};
  // The step that waited runs again, and may end the procedure.
  static constexpr std::array kFromWaitingTimeout{kRunnable, kSuccess, kFailed};
  static constexpr std::array kFromFailed{kRolledBack};
  // A child that has succeeded is undone with its tree. A root never leaves SUCCESS.
  static constexpr std::array kFromSuccess{kRolledBack};
  switch (from) {
    case kInitializing: return kFromInitializing;
    case kRunnable: return kFromRunnable;
    case kWaiting: return kFromWaiting;
    case kWaitingTimeout: return kFromWaitingTimeout;
    case kFailed: return kFromFailed;
    case kSuccess: return kFromSuccess;
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

bool IsLegalMove(ProcState from, ProcState to) {
  if (from == to) return true;
  const auto moves = MovesFrom(from);
  return std::find(moves.begin(), moves.end(), to) != moves.end();
}

void MoveTo(ProcState& state, ProcState to) {
  RATCHET_CHECK(IsLegalMove(state, to), "no procedure goes from {} to {}", ProcStateName(state), ProcStateName(to));
  state = to;
}

}  // namespace ratchet::procedure
