// What happened when, on one screen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ratchet::chaos {

// Wall-clock milliseconds of this machine; all processes run on it.
struct TimelineEvent {
  std::int64_t at_ms = 0;
  std::string what;
  std::string detail;
};

class Timeline {
 public:
  void Add(std::int64_t at_ms, std::string what, std::string detail = {});
  void Blank();  // separates acts
  // Times are shown from the first event of the act, and from the event before.
  [[nodiscard]] std::string ToText() const;

 private:
  std::vector<std::optional<TimelineEvent>> events_;
};

// The time at the start of a log line ("2026-01-31T12:30:45.123456 I ..."), local time of this machine.
[[nodiscard]] std::optional<std::int64_t> LogLineMillis(const std::string& line);

}  // namespace ratchet::chaos
