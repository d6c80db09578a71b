// Writes metrics in Prometheus' text format, version 0.0.4, one family after the other; samples follow the head of
// their family.
//
// Source of the format: prometheus.io/docs/instrumenting/exposition_formats. Not thread-safe: one text, one writer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/latency.h"

namespace ratchet::metrics {

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

// Names are constants of the program, values may be anything: they are escaped.
using Labels = std::vector<std::pair<std::string_view, std::string>>;

class MetricsText {
 public:
  // Begins a family. `name` without the prefix "ratchet_", which is added to all; `help`: one sentence. A counter's
  // name ends in "_total", other names do not (checked).
  void Counter(std::string_view name, std::string_view help);
  void Gauge(std::string_view name, std::string_view help);
  void Histogram(std::string_view name, std::string_view help);

  // A sample of the family that was begun last; not for a histogram.
  void Value(double value, const Labels& labels = {});
  void Value(std::uint64_t value, const Labels& labels = {});
  // Samples of a histogram: buckets, sum, count. In seconds.
  void Durations(const LatencySnapshot& snapshot, const Labels& labels = {});
  // `ends`: upper ends in seconds, rising; `counts`: of each step alone, one more than `ends`.
  void Buckets(const std::vector<double>& ends, const std::vector<std::uint64_t>& counts, double sum,
               const Labels& labels = {});

  // A family with one sample.
  void Counter(std::string_view name, std::string_view help, std::uint64_t value);
  void Gauge(std::string_view name, std::string_view help, double value);

  [[nodiscard]] std::string Take() { return std::move(text_); }

 private:
  enum class Kind : std::uint8_t { kNone, kCounter, kGauge, kHistogram };
  void Begin(Kind kind, std::string_view name, std::string_view help);
  void Sample(std::string_view suffix, const Labels& labels, std::string_view extra, std::string_view value);

  std::string text_;
  std::string name_;
  Kind kind_ = Kind::kNone;
};

}  // namespace ratchet::metrics
