#include "procedure/engine/next_action.h"

namespace ratchet::procedure {
namespace {

static_assert(std::variant_size_v<NextAction> == kAllNextActionKinds.size());
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(NextActionKind::kRetry), NextAction>, ForRetry>);
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(NextActionKind::kFinished), NextAction>, Ended>);

template <class AnyAction>
auto* Find(AnyAction& next_action) {
  using Found = decltype(&std::get<ForEvent>(next_action).wait);
  return std::visit(
      [](auto& what) -> Found {
        if constexpr (requires { what.wait; }) return &what.wait;
        if constexpr (requires { what.backoff; }) return what.backoff ? &*what.backoff : nullptr;
        return nullptr;
      },
      next_action);
}

}  // namespace

NextAction NextActionOf(NextActionKind kind) {
  switch (kind) {
    case NextActionKind::kRun: return ToRun{};
    case NextActionKind::kRunAgain: return ToRunAgain{};
    case NextActionKind::kChildren: return ForChildren{};
    case NextActionKind::kEvent: return ForEvent{};
    case NextActionKind::kAsync: return ForAsync{};
    case NextActionKind::kRetry: return ForRetry{};
    case NextActionKind::kOperator: return ForOperator{};
    case NextActionKind::kUndo: return ForUndo{};
    case NextActionKind::kFinished: return Ended{};
  }
  return ToRun{};
}

Wait* WaitIn(NextAction& next_action) { return Find(next_action); }
const Wait* WaitIn(const NextAction& next_action) { return Find(next_action); }

}  // namespace ratchet::procedure
