#include "chaos/verdict/gap_bounds.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

constexpr GapBound kQuiet{5, 10'000};      // all processes continue
constexpr GapBound kRecovery{10, 20'000};  // a process is recovered by others
constexpr GapBound kWhole{15, 30'000};     // everything comes back

constexpr std::array<std::string_view, 21> kQuietKinds{"kill-standby",
                                                       "kill-zookeeper",
                                                       "pause-zookeeper",
                                                       "partition-from-zookeeper-member",
                                                       "slow-link",
                                                       "slow-network",
                                                       "lossy-links",
                                                       "reset-links",
                                                       "half-open-link",
                                                       "slow-sync",
                                                       "stall",
                                                       "connection-flood",
                                                       "hostile-client",
                                                       "call-storm",
                                                       "wrong-setting",
                                                       "expired-certificate",
                                                       "half-written-file",
                                                       "rotate-authority",
                                                       "rotate-certificate",
                                                       "pause-server-briefly",
                                                       "zookeeper-outage-brief"};

constexpr std::array<std::string_view, 17> kWholeKinds{"kill-all-servers",
                                                       "pause-everything",
                                                       "power-failure",
                                                       "full-disk",
                                                       "disk-nearly-full",
                                                       "no-descriptors-system",
                                                       "hung-sync-everywhere",
                                                       "hung-sync-meta-holder",
                                                       "hung-sync-master",
                                                       "hung-sync-server",
                                                       "zookeeper-back",
                                                       "zookeeper-outage",
                                                       "lose-piece",
                                                       "kill-zookeeper-majority",
                                                       "no-dns",
                                                       "read-only-root",
                                                       "image-lost"};

template <std::size_t N>
bool Has(const std::array<std::string_view, N>& kinds, std::string_view kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::int64_t EndOf(const FaultLine& fault) {
  return std::max(fault.healed_ms.value_or(fault.injected_ms), fault.injected_ms);
}

// The time counts from the injection on.
std::int64_t Allowed(const std::vector<FaultLine>& faults, const FaultLine& fault, std::int64_t session_ms,
                     double factor) {
  double allowed = 0;
  for (const FaultLine& other : faults) {
    const bool later = other.injected_ms > *fault.settled_ms;
    const bool earlier = other.settled_ms && *other.settled_ms < fault.injected_ms;
    if (later || earlier) continue;
    const auto bound = static_cast<double>(GapBoundOf(other.kind).Millis(session_ms));
    allowed = std::max(allowed, static_cast<double>(EndOf(other) - fault.injected_ms) + bound * factor);
  }
  return static_cast<std::int64_t>(allowed);
}

}  // namespace

GapBound GapBoundOf(std::string_view kind) {
  kind = kind.substr(0, kind.find(':'));  // without a parameter
  if (Has(kQuietKinds, kind)) return kQuiet;
  return Has(kWholeKinds, kind) ? kWhole : kRecovery;
}

Finding JudgeGaps(const std::vector<FaultLine>& faults, std::int64_t session_ms, double factor) {
  if (factor == 0) return {true, "gaps that clients see are not judged (--gap-factor 0)"};
  std::size_t judged = 0;
  std::int64_t longest = 0;
  std::string wrong;
  for (const FaultLine& fault : faults) {
    if (!fault.error.empty() || !fault.settled_ms) continue;
    ++judged;
    longest = std::max(longest, fault.gap_ms);
    const std::int64_t allowed = Allowed(faults, fault, session_ms, factor);
    if (fault.gap_ms <= allowed) continue;
    wrong += fmt::format("\n  {}: a client had no answer for {} ms, at most {} ms are allowed", fault.kind,
                         fault.gap_ms, allowed);
  }
  if (!wrong.empty()) return {false, "gaps that clients saw are too long:" + wrong};
  return {true, fmt::format("{} faults: no client was without an answer for longer than its bound, {} ms at most",
                            judged, longest)};
}

}  // namespace ratchet::chaos
