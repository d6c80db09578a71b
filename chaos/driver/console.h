// Output during a run: one line per event, and on a terminal a progress bar below them.
#pragma once

#include <cstdint>
#include <string>

namespace ratchet::chaos {

// Not thread-safe: used by the driver's thread.
class Console {
 public:
  // Times are shown relative to `started_ms`.
  Console(bool terminal, std::int64_t started_ms) : terminal_(terminal), started_ms_(started_ms) {}
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void Event(std::int64_t at_ms, const std::string& what, const std::string& detail);
  void Say(const std::string& text);
  // Shown on a terminal only.
  void Bar(double share, const std::string& text);

 private:
  void ClearBar();
  const bool terminal_;
  const std::int64_t started_ms_;
  bool bar_shown_ = false;
};

}  // namespace ratchet::chaos
