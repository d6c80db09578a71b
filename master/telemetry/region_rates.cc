#include "master/telemetry/region_rates.h"

namespace ratchet::master {
namespace {

constexpr double kNewest = 0.5;  // weight of the newest reading

double PerSecond(std::uint64_t count, Millis in) {
  return static_cast<double>(count) * 1'000 / static_cast<double>(in.count());
}

}  // namespace

void RegionRates::Put(const ServerName& server, const std::vector<RegionReading>& readings, TimePoint now) {
  const MutexLock lock(mutex_);
  for (const RegionReading& reading : readings) {
    Known& known = regions_[reading.region];
    const Millis passed = std::chrono::duration_cast<Millis>(now - known.at);
    // After a new opening the counter starts at 0.
    if (known.server != server || reading.requests < known.requests) {
      const bool moved = known.twice;
      known = {server, reading.requests, now, moved, known.rate};  // starts with the previous server's request rate
    } else if (passed > Millis{0}) {
      const double newest = PerSecond(reading.requests - known.requests, passed);
      known.rate.requests = known.twice ? kNewest * newest + (1 - kNewest) * known.rate.requests : newest;
      known.requests = reading.requests;
      known.at = now;
      known.twice = true;
    }
    known.rate.bytes = static_cast<double>(reading.bytes);
  }
  if (now - swept_ < kKeep) return;
  swept_ = now;
  std::erase_if(regions_, [now](const auto& each) { return now - each.second.at > kKeep; });
}

std::optional<RegionRate> RegionRates::Of(const ServerName& server, std::string_view region) const {
  const MutexLock lock(mutex_);
  const auto known = regions_.find(region);
  if (known == regions_.end() || known->second.server != server || !known->second.twice) return std::nullopt;
  return known->second.rate;
}

std::size_t RegionRates::size() const {
  const MutexLock lock(mutex_);
  return regions_.size();
}

}  // namespace ratchet::master
