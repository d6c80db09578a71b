#include "procedure/pure/want.h"

namespace ratchet::procedure {
namespace {

using enum Want;

constexpr unsigned Bit(Want want) { return 1U << static_cast<unsigned>(want); }
// Wherever a procedure stands it can be parked, fail with its tree, or be ended by a bypass.
constexpr unsigned kAlways = Bit(kOperator) | Bit(kUndo) | Bit(kFinished);
constexpr unsigned kWaits = Bit(kChildren) | Bit(kEvent) | Bit(kOnce) | Bit(kRetry);

constexpr unsigned MovesFrom(Want from) {
  switch (from) {
    case kRun: return Bit(kRunAgain) | kWaits | kAlways;
    case kRunAgain: return Bit(kRun) | kAlways;
    case kChildren:
    case kEvent:
    case kOnce:
    case kRetry: return Bit(kRun) | kAlways;
    case kOperator: return Bit(kRun) | Bit(kChildren) | kAlways;
    case kUndo: return Bit(kFinished) | Bit(kOperator);
    case kFinished: return 0;
  }
  return 0;
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

bool IsLegalMove(Want from, Want to) { return from == to || (MovesFrom(from) & Bit(to)) != 0; }

}  // namespace ratchet::procedure
