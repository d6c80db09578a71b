// Tells tests whether this build has a sanitizer. A test then takes about five times as long and several times the
// memory, so sweeps and simulations do less: the build without a sanitizer runs the same ones in full.
#pragma once

#include <cstdint>

namespace ratchet::testing {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// `seeds`, or a third of them under a sanitizer.
constexpr std::uint64_t SeedsHere(std::uint64_t seeds) { return kSanitized ? seeds / 3 : seeds; }

}  // namespace ratchet::testing
