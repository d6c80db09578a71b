#include "common/base/backoff.h"

#include <algorithm>

namespace ratchet {

Millis BackoffDelay(const BackoffPolicy& policy, std::uint32_t attempt, Prng& prng) {
  const auto cap = static_cast<double>(policy.cap.count());
  double delay = static_cast<double>(policy.base.count());
  for (std::uint32_t i = 1; i < attempt && delay < cap; ++i) delay *= policy.factor;
  const double unit = static_cast<double>(prng.Below(1U << 20U)) / static_cast<double>(1U << 20U);
  delay *= 1.0 - policy.jitter + 2.0 * policy.jitter * unit;
  return Millis(static_cast<std::int64_t>(std::min(delay, cap)));
}

}  // namespace ratchet
