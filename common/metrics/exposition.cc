#include "common/metrics/exposition.h"

#include <fmt/format.h>

#include "common/base/check.h"

namespace ratchet::metrics {
namespace {

// Returns the number with at most 12 significant digits: 0.25, 1e+06.
std::string NumberText(double value) { return fmt::format("{:.12g}", value); }

void AppendEscaped(std::string& text, std::string_view value) {
  for (const char c : value) {
    switch (c) {
      case '\\': text += "\\\\"; break;
      case '"': text += "\\\""; break;
      case '\n': text += "\\n"; break;
      default: text.push_back(c);
    }
  }
}

}  // namespace

void MetricsText::Begin(Kind kind, std::string_view name, std::string_view help) {
  RATCHET_CHECK((kind == Kind::kCounter) == name.ends_with("_total"), "a metric named {}", name);
  const char* word = kind == Kind::kCounter ? "counter" : kind == Kind::kGauge ? "gauge" : "histogram";
  name_ = name.starts_with("process_") ? std::string(name) : fmt::format("ratchet_{}", name);
  kind_ = kind;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, word);
}

void MetricsText::Counter(std::string_view name, std::string_view help) { Begin(Kind::kCounter, name, help); }
void MetricsText::Gauge(std::string_view name, std::string_view help) { Begin(Kind::kGauge, name, help); }
void MetricsText::Histogram(std::string_view name, std::string_view help) { Begin(Kind::kHistogram, name, help); }

void MetricsText::Sample(std::string_view suffix, const Labels& labels, std::string_view extra,
                         std::string_view value) {
  text_ += name_;
  text_ += suffix;
  if (!labels.empty() || !extra.empty()) {
    text_.push_back('{');
    bool first = true;
    for (const auto& [label, content] : labels) {
      if (!first) text_.push_back(',');
      first = false;
      text_ += label;
      text_ += "=\"";
      AppendEscaped(text_, content);
      text_.push_back('"');
    }
    if (!first && !extra.empty()) text_.push_back(',');
    text_ += extra;
    text_.push_back('}');
  }
  text_.push_back(' ');
  text_ += value;
  text_.push_back('\n');
}

void MetricsText::Value(double value, const Labels& labels) { Sample("", labels, "", NumberText(value)); }
void MetricsText::Value(std::uint64_t value, const Labels& labels) { Sample("", labels, "", std::to_string(value)); }

void MetricsText::Durations(const LatencySnapshot& snapshot, const Labels& labels) {
  static const std::vector<double> ends = [] {
    std::vector<double> seconds;
    for (const std::uint64_t us : kLatencySteps) seconds.push_back(static_cast<double>(us) / 1e6);
    return seconds;
  }();
  Buckets(ends, {snapshot.counts.begin(), snapshot.counts.end()}, static_cast<double>(snapshot.sum_us) / 1e6, labels);
}

void MetricsText::Buckets(const std::vector<double>& ends, const std::vector<std::uint64_t>& counts, double sum,
                          const Labels& labels) {
  RATCHET_CHECK(kind_ == Kind::kHistogram && counts.size() == ends.size() + 1, "buckets of {}", name_);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    const std::string end = i < ends.size() ? NumberText(ends[i]) : "+Inf";
    Sample("_bucket", labels, fmt::format("le=\"{}\"", end), std::to_string(below));
  }
  Sample("_sum", labels, "", NumberText(sum));
  Sample("_count", labels, "", std::to_string(below));
}

void MetricsText::Counter(std::string_view name, std::string_view help, std::uint64_t value) {
  Counter(name, help);
  Value(value);
}

void MetricsText::Gauge(std::string_view name, std::string_view help, double value) {
  Gauge(name, help);
  Value(value);
}

}  // namespace ratchet::metrics
