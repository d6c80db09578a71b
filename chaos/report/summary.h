// Percentiles of recoveries by kind of fault. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// Percentiles of `count` values; not shown for a count of 0. The p99 of few values is the largest one.
struct Percentiles {
  std::size_t count = 0;
  std::int64_t p50 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
};

// Nearest rank: returns the smallest value that at least this share of all values do not exceed.
[[nodiscard]] Percentiles PercentilesOf(std::vector<std::int64_t> values);

struct KindSummary {
  std::string kind;
  std::size_t injected = 0;  // faults that took effect
  std::size_t failed = 0;    // faults that did not
  Percentiles detect, fence, split, assign, first_success, gap, settled;
};

// Sorted by kind.
[[nodiscard]] std::vector<KindSummary> Summarize(const std::vector<FaultLine>& faults);

// One line: "region servers expired: connection refused 12, session ended 3; ...".
[[nodiscard]] std::string DeathsText(const DeathFigures& deaths);

// The table's columns, in the order of every form of the report.
struct SummaryColumn {
  const char* name;
  Percentiles KindSummary::*values;
};
[[nodiscard]] const std::vector<SummaryColumn>& SummaryColumns();

}  // namespace ratchet::chaos
