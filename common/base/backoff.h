// The only retry policy: exponential growth, a cap, jitter from a seeded source.
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "common/base/prng.h"

namespace ratchet {

struct BackoffPolicy {
  Millis base{100};     // delay before the second attempt
  Millis cap{10'000};   // no delay is longer than this, jitter included
  double factor = 2.0;  // growth per attempt, at least 1
  double jitter = 0.1;  // the delay is drawn from [1 - jitter, 1 + jitter] times its nominal value
};

// `attempt`: 1 for the first failure. Pure apart from the draw.
[[nodiscard]] Millis BackoffDelay(const BackoffPolicy& policy, std::uint32_t attempt, Prng& prng);

}  // namespace ratchet
