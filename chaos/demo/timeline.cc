#include "chaos/demo/timeline.h"

#include <cstdio>
#include <ctime>

#include <fmt/core.h>

namespace ratchet::chaos {

void Timeline::Add(std::int64_t at_ms, std::string what, std::string detail) {
  events_.emplace_back(TimelineEvent{at_ms, std::move(what), std::move(detail)});
}

void Timeline::Blank() { events_.emplace_back(std::nullopt); }

std::string Timeline::ToText() const {
  std::string text = fmt::format("{:>10}  {:>9}  {:<24}  {}\n", "ms", "since", "event", "detail");
  std::optional<std::int64_t> start;
  std::int64_t before = 0;
  for (const auto& event : events_) {
    if (!event) {
      start.reset();
      text += "\n";
      continue;
    }
    if (!start) before = start.emplace(event->at_ms);
    text += fmt::format("{:>10}  {:>+9}  {:<24}  {}\n", event->at_ms - *start, event->at_ms - before, event->what,
                        event->detail);
    before = event->at_ms;
  }
  return text;
}

std::optional<std::int64_t> LogLineMillis(const std::string& line) {
  std::tm parts{};
  int micros = 0;
  if (std::sscanf(line.c_str(), "%d-%d-%dT%d:%d:%d.%d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                  &parts.tm_min, &parts.tm_sec, &micros) != 7) {
    return std::nullopt;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  parts.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&parts);
  return static_cast<std::int64_t>(seconds) * 1000 + micros / 1000;
}

}  // namespace ratchet::chaos
