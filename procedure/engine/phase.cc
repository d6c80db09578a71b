#include "procedure/engine/phase.h"

namespace ratchet::procedure {

std::string_view PhaseName(Phase phase) {
  using enum Phase;
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

}  // namespace ratchet::procedure
