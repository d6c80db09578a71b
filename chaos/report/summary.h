// Recoveries by kind of fault, as percentiles. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// Of `count` values; nothing is shown for a count of 0. p99 of few values is their largest one.
struct Percentiles {
  std::size_t count = 0;
  std::int64_t p50 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
};

// Nearest rank: the smallest value that at least that share of all values do not exceed.
[[nodiscard]] Percentiles PercentilesOf(std::vector<std::int64_t> values);

struct KindSummary {
  std::string kind;
  std::size_t injected = 0;  // that took effect
  std::size_t failed = 0;    // that did not
  Percentiles detect, fence, split, assign, first_success, gap, settled;
};

// In the order of their names.
[[nodiscard]] std::vector<KindSummary> Summarize(const std::vector<FaultLine>& faults);

// The table's columns, in the order in which every form of the report shows them.
struct SummaryColumn {
  const char* name;
  Percentiles KindSummary::*values;
};
[[nodiscard]] const std::vector<SummaryColumn>& SummaryColumns();

}  // namespace ratchet::chaos
