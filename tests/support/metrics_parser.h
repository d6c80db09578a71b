// Parses Prometheus' text format, strictly, and reports its errors: for tests of the metrics of processes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::metrics {

struct Sample {
  std::string name;  // with its suffix: "..._bucket"
  std::map<std::string, std::string> labels;
  double value = 0;
};
struct Family {
  std::string type;
  std::string help;
  std::vector<Sample> samples;
};
struct ParsedMetrics {
  std::map<std::string, Family> families;
  std::vector<std::string> faults;  // "line 7: ..."; none: the text follows the format and the conventions

  // The value of the one sample with these labels and no others; -1 when there is none.
  [[nodiscard]] double Value(const std::string& name, const std::map<std::string, std::string>& labels = {}) const;
};

// Conventions in addition to the format: HELP and TYPE before the samples, one block for a family, counters end in
// _total and no other name does, values of counters are not negative, buckets rise and end with +Inf, which is the
// count.
[[nodiscard]] ParsedMetrics ParseMetrics(std::string_view text);

}  // namespace ratchet::metrics
