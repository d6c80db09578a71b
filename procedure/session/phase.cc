#include "procedure/session/phase.h"

namespace ratchet::procedure {
namespace {

using enum Phase;

constexpr unsigned Bit(Phase phase) { return 1U << static_cast<unsigned>(phase); }

constexpr unsigned MovesFrom(Phase from) {
  switch (from) {
    case kFree:
      return Bit(kLockLine) | Bit(kQueued) | Bit(kRunning) | Bit(kCommitting) | Bit(kWaiting) | Bit(kFinished);
    case kLockLine: return Bit(kFree) | Bit(kWaiting);
    case kQueued: return Bit(kFree) | Bit(kRunning) | Bit(kWaiting);
    case kRunning: return Bit(kFree);
    case kCommitting: return Bit(kFree) | Bit(kWaiting);
    case kWaiting: return Bit(kFree) | Bit(kQueued) | Bit(kCommitting);
    case kFinished: return Bit(kFree) | Bit(kQueued) | Bit(kWaiting);
  }
  return 0;
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

bool IsLegalMove(Phase from, Phase to) { return from == to || (MovesFrom(from) & Bit(to)) != 0; }

}  // namespace ratchet::procedure
