#include "chaos/report/summary.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace ratchet::chaos {
namespace {

struct Values {
  std::size_t injected = 0;
  std::size_t failed = 0;
  std::vector<std::int64_t> detect, fence, split, assign, first_success, gap, settled;
};

void AddIf(const std::optional<std::int64_t>& value, std::vector<std::int64_t>& values) {
  if (value) values.push_back(*value);
}

}  // namespace

Percentiles PercentilesOf(std::vector<std::int64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto rank = [&](std::size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  return {values.size(), rank(50), rank(99), values.back()};
}

std::vector<KindSummary> Summarize(const std::vector<FaultLine>& faults) {
  std::map<std::string, Values> kinds;
  for (const auto& fault : faults) {
    Values& values = kinds[fault.kind];
    if (!fault.error.empty()) {
      ++values.failed;
      continue;
    }
    ++values.injected;
    AddIf(fault.phases.detect, values.detect);
    AddIf(fault.phases.fence, values.fence);
    AddIf(fault.phases.split, values.split);
    AddIf(fault.phases.assign, values.assign);
    AddIf(fault.phases.first_success, values.first_success);
    values.gap.push_back(fault.gap_ms);
    if (fault.settled_ms) values.settled.push_back(*fault.settled_ms - fault.injected_ms);
  }
  std::vector<KindSummary> rows;
  for (const auto& [kind, values] : kinds) {
    rows.push_back({kind, values.injected, values.failed, PercentilesOf(values.detect), PercentilesOf(values.fence),
                    PercentilesOf(values.split), PercentilesOf(values.assign), PercentilesOf(values.first_success),
                    PercentilesOf(values.gap), PercentilesOf(values.settled)});
  }
  return rows;
}

std::string DeathsText(const DeathFigures& deaths) {
  std::string text = "region servers expired:";
  for (const auto& [reason, count] : deaths.by_reason) {
    text += fmt::format("{} {} {}", text.back() == ':' ? "" : ",", reason, count);
  }
  if (deaths.by_reason.empty()) text += " none";
  return text + fmt::format(
                    "; active masters replaced early: {}; early findings: {}, of which false {}, excused by a "
                    "fault {}, not judged {}",
                    deaths.early_of_masters, deaths.early, deaths.false_findings, deaths.excused, deaths.not_judged);
}

const std::vector<SummaryColumn>& SummaryColumns() {
  static const std::vector<SummaryColumn> columns = {
      {"detect", &KindSummary::detect},
      {"fence", &KindSummary::fence},
      {"split", &KindSummary::split},
      {"assign", &KindSummary::assign},
      {"first success", &KindSummary::first_success},
      {"client gap", &KindSummary::gap},
      {"settled", &KindSummary::settled},
  };
  return columns;
}

}  // namespace ratchet::chaos
