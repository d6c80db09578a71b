// The sequence of events, on one screen.
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
  void NextAct();
  // Sorts each act by time; shows times relative to its first added event, and to the previous event.
  [[nodiscard]] std::string ToText() const;

 private:
  std::vector<std::vector<TimelineEvent>> acts_ = std::vector<std::vector<TimelineEvent>>(1);
};

// Returns the time at the start of a log line ("2026-01-31T12:30:45.123 I ..."), local time of this machine.
[[nodiscard]] std::optional<std::int64_t> LogLineMillis(const std::string& line);

}  // namespace ratchet::chaos
