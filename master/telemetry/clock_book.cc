#include "master/telemetry/clock_book.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"

namespace ratchet::master {
namespace {

std::int64_t Distance(std::int64_t skew_ms) { return skew_ms < 0 ? -skew_ms : skew_ms; }

std::string DistanceText(std::int64_t skew_ms) {
  return fmt::format("{} ms {}", Distance(skew_ms), skew_ms < 0 ? "behind" : "ahead of");
}

}  // namespace

std::int64_t ClockSkewMs(std::uint64_t theirs_ms, std::int64_t ours_ms) {
  const auto theirs = static_cast<std::int64_t>(std::min<std::uint64_t>(theirs_ms, INT64_MAX));
  return theirs - std::max<std::int64_t>(ours_ms, 0);  // both are at least 0: no overflow
}

Status CheckClock(const ServerName& server, std::int64_t skew_ms, Millis limit) {
  if (Distance(skew_ms) <= limit.count() || RATCHET_MUTANT("master.any_clock")) return Ok();
  return rpc::RemoteError(rpc::exception::kClockOutOfSync,
                          fmt::format("the clock of {} is {} this master's; the limit is {} ms (--max-clock-skew-ms). "
                                      "Correct the wrong clock, then restart the server",
                                      server.ToString(), DistanceText(skew_ms), limit.count()));
}

void ClockBook::Put(const ServerName& server, std::int64_t skew_ms, std::vector<AheadRegion> ahead, TimePoint now,
                    std::size_t count) {
  count = std::max(count, ahead.size());
  const auto shown = ahead.begin() + static_cast<std::ptrdiff_t>(std::min(ahead.size(), kRegionsShown));
  std::partial_sort(ahead.begin(), shown, ahead.end(),
                    [](const AheadRegion& a, const AheadRegion& b) { return a.ahead_ms > b.ahead_ms; });
  ahead.erase(shown, ahead.end());
  MutexLock lock(mutex_);
  sweep_.Count(pages_, now, kClockPageAge);
  Page& page = pages_[server];  // a new page has skew 0, so it is not shown yet
  page.skew_ms = Distance(skew_ms) < Distance(page.last_skew_ms) ? skew_ms : page.last_skew_ms;
  page.last_skew_ms = skew_ms;
  if (Distance(page.skew_ms) <= kClockNoticed.count())
    page.off_since.reset();
  else if (!page.off_since)
    page.off_since = now;
  page.ahead = std::move(ahead);
  page.ahead_count = count;
  page.at = now;
}

std::vector<ClockBook::Problem> ClockBook::Problems(const std::vector<ServerName>& online, Millis warning) const {
  std::vector<Problem> problems;
  std::size_t far_off = 0;
  MutexLock lock(mutex_);
  for (const ServerName& server : online) {
    const auto found = pages_.find(server);
    if (found == pages_.end()) continue;
    const Page& page = found->second;
    if (Distance(page.skew_ms) > warning.count()) {
      ++far_off;
      problems.push_back({fmt::format("{}: its clock is {} this master's; correct the wrong clock", server.ToString(),
                                      DistanceText(page.skew_ms)),
                          page.off_since});
    }
    if (page.ahead.empty()) continue;
    std::string names;
    for (const AheadRegion& region : page.ahead) {
      names += fmt::format("{}{} by {} ms", names.empty() ? "" : ", ", region.encoded_name, region.ahead_ms);
    }
    const std::size_t more = page.ahead_count - page.ahead.size();
    problems.push_back({fmt::format("{}: timestamps of {} regions are ahead of its clock: {}{}", server.ToString(),
                                    page.ahead_count, names, more > 0 ? fmt::format(", and {} more", more) : ""),
                        std::nullopt});
  }
  if (far_off > 1 && far_off * 2 > online.size()) {
    problems.push_back(
        {fmt::format("the clocks of {} of {} servers differ from this master's: its own clock may be wrong", far_off,
                     online.size()),
         std::nullopt});
  }
  return problems;
}

}  // namespace ratchet::master
