#include "chaos/report/timeline_svg.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ratchet::chaos {
namespace {

constexpr double kWidth = 1100;
constexpr double kLeft = 190;  // width of the names of the kinds
constexpr double kTrafficHeight = 90;
constexpr double kRow = 22;
constexpr double kTop = 18;

class Drawing {
 public:
  explicit Drawing(const RunRecord& run) : run_(run), span_(std::max<std::int64_t>(1, run.ended_ms - run.started_ms)) {
    for (const auto& fault : run.faults) rows_.emplace(fault.kind, 0);
    std::size_t row = 0;
    for (auto& [kind, number] : rows_) number = row++;
  }

  std::string Draw() {
    const double height = kTop + kTrafficHeight + kRow * static_cast<double>(rows_.size()) + 40;
    svg_ = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"timeline of the run\">\n", kWidth,
                       height);
    DrawAxis(height - 22);
    DrawTraffic();
    for (const auto& [kind, row] : rows_) {
      Text(kLeft - 8, RowTop(row) + 14, "end", kind);
    }
    for (const auto& fault : run_.faults) DrawFault(fault);
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  [[nodiscard]] double X(std::int64_t at_ms) const {
    const double share = static_cast<double>(at_ms - run_.started_ms) / static_cast<double>(span_);
    return kLeft + std::clamp(share, 0.0, 1.0) * (kWidth - kLeft - 10);
  }
  [[nodiscard]] static double RowTop(std::size_t row) {
    return kTop + kTrafficHeight + 14 + kRow * static_cast<double>(row);
  }

  void Text(double x, double y, const char* anchor, const std::string& text) {
    svg_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, EscapeHtml(text));
  }

  void DrawAxis(double bottom) {
    std::int64_t step = 1000;
    for (const std::int64_t candidate : {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600}) {
      step = candidate * 1000;
      if (span_ / step <= 14) break;
    }
    for (std::int64_t at = 0; at <= span_; at += step) {
      const double x = X(run_.started_ms + at);
      svg_ += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", x,
                          kTop, bottom);
      Text(x, bottom + 16, "middle", fmt::format("{} s", at / 1000));
    }
  }

  void DrawTraffic() {
    // Operations per second between neighbouring samples.
    std::vector<std::pair<std::int64_t, double>> rates;
    double highest = 1;
    for (std::size_t i = 1; i < run_.traffic.size(); ++i) {
      const auto& before = run_.traffic[i - 1];
      const auto& after = run_.traffic[i];
      if (after.at_ms <= before.at_ms) continue;
      const double rate =
          static_cast<double>(after.ok - before.ok) * 1000.0 / static_cast<double>(after.at_ms - before.at_ms);
      highest = std::max(highest, rate);
      rates.emplace_back(after.at_ms, rate);
    }
    std::string points;
    for (const auto& [at, rate] : rates) {
      points += fmt::format("{:.1f},{:.1f} ", X(at), kTop + kTrafficHeight * (1 - rate / highest));
    }
    svg_ += fmt::format("<polyline class=\"traffic\" points=\"{}\"/>\n", points);
    Text(kLeft - 8, kTop + 10, "end", fmt::format("{:.0f} operations/s", highest));
    Text(kLeft - 8, kTop + kTrafficHeight, "end", "0");
  }

  void Bar(const char* style, std::int64_t from, std::int64_t to, double top, const std::string& title) {
    svg_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\"><title>{}</title></rect>\n", style,
        X(from), top, std::max(2.0, X(to) - X(from)), EscapeHtml(title));
  }

  void DrawFault(const FaultLine& fault) {
    const double top = RowTop(rows_.at(fault.kind)) + 3;
    const std::string title = fmt::format("{} {}: {}", fault.kind, fmt::join(fault.victims, ", "),
                                          fault.error.empty() ? fault.evidence : "did not take effect: " + fault.error);
    if (!fault.error.empty()) {
      Bar("void", fault.injected_ms, fault.injected_ms, top, title);
      return;
    }
    const std::int64_t healed = fault.healed_ms.value_or(fault.injected_ms);
    if (fault.settled_ms) Bar("settling", healed, *fault.settled_ms, top, title + " (until all is served again)");
    Bar("broken", fault.injected_ms, healed, top, title);
    const std::pair<const char*, std::optional<std::int64_t>> phases[] = {
        {"detected", fault.phases.detect},
        {"fenced", fault.phases.fence},
        {"logs split", fault.phases.split},
        {"assigned", fault.phases.assign},
        {"first success", fault.phases.first_success}};
    for (const auto& [name, after] : phases) {
      if (!after) continue;
      const double x = X(fault.injected_ms + *after);
      svg_ += fmt::format(
          "<line class=\"phase\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"><title>{3} after {4} ms"
          "</title></line>\n",
          x, top - 1, top + 15, name, *after);
    }
  }

  const RunRecord& run_;
  const std::int64_t span_;
  std::map<std::string, std::size_t> rows_;
  std::string svg_;
};

}  // namespace

std::string DrawTimeline(const RunRecord& run) {
  if (run.faults.empty() && run.traffic.empty()) return "";
  return Drawing(run).Draw();
}

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += letter;
    }
  }
  return escaped;
}

}  // namespace ratchet::chaos
