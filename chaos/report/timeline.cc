#include "chaos/report/timeline.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <fmt/core.h>

namespace ratchet::chaos {

void Timeline::Add(std::int64_t at_ms, std::string what, std::string detail) {
  acts_.back().push_back({at_ms, std::move(what), std::move(detail)});
}

void Timeline::NextAct() { acts_.emplace_back(); }

std::string Timeline::ToText() const {
  std::string text = fmt::format("{:>10}  {:>9}  {:<24}  {}\n", "ms", "since", "event", "detail");
  for (const auto& act : acts_) {
    if (act.empty()) continue;
    const std::int64_t start = act.front().at_ms;
    auto sorted = act;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; });
    std::int64_t before = sorted.front().at_ms;
    for (const auto& event : sorted) {
      text += fmt::format("{:>10}  {:>+9}  {:<24}  {}\n", event.at_ms - start, event.at_ms - before, event.what,
                          event.detail);
      before = event.at_ms;
    }
    text += "\n";
  }
  return text;
}

std::optional<std::int64_t> LogLineMillis(const std::string& line) {
  std::tm parts{};
  int millis = 0;
  if (std::sscanf(line.c_str(), "%d-%d-%dT%d:%d:%d.%d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                  &parts.tm_min, &parts.tm_sec, &millis) != 7) {
    return std::nullopt;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  parts.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&parts);
  return static_cast<std::int64_t>(seconds) * 1000 + millis;
}

}  // namespace ratchet::chaos
