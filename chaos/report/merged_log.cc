#include "chaos/report/merged_log.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "chaos/report/timeline.h"

namespace ratchet::chaos {

std::vector<std::string> MergeLogs(const std::vector<NamedLog>& logs) {
  struct Line {
    std::int64_t at_ms;
    std::string text;
  };
  constexpr std::size_t kTimeWidth = 23;  // 2026-01-31T12:30:45.123
  std::vector<Line> all;
  for (const auto& log : logs) {
    std::int64_t last = 0;
    for (const auto& line : log.lines) {
      const auto at = LogLineMillis(line);
      if (at) last = *at;
      std::string text = at && line.size() > kTimeWidth
                             ? fmt::format("{} {:<11}{}", line.substr(0, kTimeWidth), log.name,
                                           std::string_view(line).substr(kTimeWidth))
                             : fmt::format("{:<23} {:<11} {}", "", log.name, line);
      all.push_back({last, std::move(text)});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Line& a, const Line& b) { return a.at_ms < b.at_ms; });
  std::vector<std::string> merged;
  merged.reserve(all.size());
  for (auto& line : all) merged.push_back(std::move(line.text));
  return merged;
}

}  // namespace ratchet::chaos
