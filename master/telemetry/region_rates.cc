#include "master/telemetry/region_rates.h"

#include <cmath>

namespace ratchet::master {
namespace {

constexpr double kNewest = 0.5;  // weight of the newest reading

double PerSecond(std::uint64_t count, Millis in) {
  return static_cast<double>(count) * 1'000 / static_cast<double>(in.count());
}

// Returns the part of a rate that is left after rounds without requests.
double Decay(std::uint64_t quiet_rounds) {
  return quiet_rounds == 0 ? 1 : std::pow(1 - kNewest, static_cast<double>(quiet_rounds));
}

}  // namespace

// Returns the number of complete rounds in which the region had no reading.
std::uint64_t RegionRates::QuietRounds(const Known& known, const Server& server) {
  return server.rounds > known.round ? server.rounds - known.round - 1 : 0;
}

void RegionRates::Put(const ServerName& server, const std::vector<RegionReading>& readings, TimePoint now,
                      const RegionRound& round) {
  const MutexLock lock(mutex_);
  Server& from = servers_[server];
  if (from.number == 0) from.number = ++numbers_;
  for (const RegionReading& reading : readings) {
    Known& known = regions_[reading.region];
    const Millis since = std::chrono::duration_cast<Millis>(now - known.at);
    // After a new opening the counter starts at 0.
    if (known.server != from.number || reading.requests < known.requests) {
      const bool moved = known.twice;
      known = {from.number, moved, reading.requests, now, from.rounds, known.rate};  // starts with the previous rate
    } else if (since > Millis{0}) {
      // The requests came in the last of the rounds.
      const std::uint64_t quiet = QuietRounds(known, from);
      const double newest = PerSecond(reading.requests - known.requests, since) * static_cast<double>(quiet + 1);
      const double before = known.rate.requests * Decay(quiet);
      known.rate.requests = known.twice ? kNewest * newest + (1 - kNewest) * before : newest;
      known.requests = reading.requests;
      known.at = now;
      known.round = from.rounds;
      known.twice = true;
    }
    known.rate.bytes = static_cast<double>(reading.bytes);
  }
  if (round.complete) ++from.rounds;
  from.listed = round.listed;
  from.at = now;
  if (now - swept_ >= kKeep) ForgetOld(now);
}

void RegionRates::ForgetOld(TimePoint now) {
  swept_ = now;
  std::erase_if(servers_, [now](const auto& each) { return now - each.second.at > kKeep; });
  std::uint64_t listed = 0;
  std::map<std::uint32_t, const Server*> by_number;
  for (const auto& [name, server] : servers_) {
    listed += server.listed;
    by_number[server.number] = &server;
  }
  // Regions that were dropped or split stay until they are half of all.
  const bool keep_quiet = regions_.size() <= 2 * listed;
  std::erase_if(regions_, [&](const auto& each) {
    const Known& known = each.second;
    if (now - known.at <= kKeep) return false;
    const auto server = by_number.find(known.server);
    return !keep_quiet || server == by_number.end() || QuietRounds(known, *server->second) == 0;
  });
}

std::optional<RegionRate> RegionRates::Of(const ServerName& server, std::string_view region) const {
  const MutexLock lock(mutex_);
  const auto known = regions_.find(region);
  const auto from = servers_.find(server);
  if (known == regions_.end() || from == servers_.end() || !known->second.twice) return std::nullopt;
  if (known->second.server != from->second.number) return std::nullopt;
  RegionRate rate = known->second.rate;
  rate.requests *= Decay(QuietRounds(known->second, from->second));
  return rate;
}

std::size_t RegionRates::size() const {
  const MutexLock lock(mutex_);
  return regions_.size();
}

}  // namespace ratchet::master
