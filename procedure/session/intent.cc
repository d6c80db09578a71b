#include "procedure/session/intent.h"

namespace ratchet::procedure {
namespace {

static_assert(std::variant_size_v<Intent> == kAllWants.size());
static_assert(std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(Want::kRetry), Intent>, ForRetry>);
static_assert(std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(Want::kFinished), Intent>, Ended>);

template <class AnyIntent>
auto* Find(AnyIntent& intent) {
  using Found = decltype(&std::get<ForEvent>(intent).wait);
  return std::visit(
      [](auto& what) -> Found {
        if constexpr (requires { what.wait; }) return &what.wait;
        if constexpr (requires { what.backoff; }) return what.backoff ? &*what.backoff : nullptr;
        return nullptr;
      },
      intent);
}

}  // namespace

Intent IntentOf(Want want) {
  switch (want) {
    case Want::kRun: return ToRun{};
    case Want::kRunAgain: return ToRunAgain{};
    case Want::kChildren: return ForChildren{};
    case Want::kEvent: return ForEvent{};
    case Want::kOnce: return ForOnce{};
    case Want::kRetry: return ForRetry{};
    case Want::kOperator: return ForOperator{};
    case Want::kUndo: return ForUndo{};
    case Want::kFinished: return Ended{};
  }
  return ToRun{};
}

Wait* WaitIn(Intent& intent) { return Find(intent); }
const Wait* WaitIn(const Intent& intent) { return Find(intent); }

}  // namespace ratchet::procedure
