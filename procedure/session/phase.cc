#include "procedure/session/phase.h"

#include "common/base/state_moves.h"

namespace ratchet::procedure {
namespace {

using enum Phase;

constexpr StateSet<Phase> MovesFrom(Phase from) {
  switch (from) {
    case kFree: return {kLockLine, kQueued, kRunning, kCommitting, kWaiting, kFinished};
    case kLockLine: return {kFree, kWaiting};
    case kQueued: return {kFree, kRunning, kWaiting};
    case kRunning: return {kFree};
    case kCommitting: return {kFree, kWaiting};
    case kWaiting: return {kFree, kQueued, kCommitting};
    case kFinished: return {kFree, kQueued, kWaiting};
  }
  return {};
}

}  // namespace

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case kFree: return "free";
    case kLockLine: return "lock_line";
    case kQueued: return "queued";
    case kRunning: return "running";
    case kCommitting: return "committing";
    case kWaiting: return "waiting";
    case kFinished: return "finished";
  }
  return "?";
}

bool IsLegalMove(Phase from, Phase to) { return MayGo(from, to, MovesFrom(from)); }

}  // namespace ratchet::procedure
