#include <fmt/format.h>

#include "chaos/report/phase_table.h"
#include "chaos/report/render.h"
#include "chaos/report/summary.h"
#include "chaos/verdict/guards.h"

namespace ratchet::chaos {
namespace {

std::string TextCell(const Percentiles& values) {
  return values.count == 0 ? "-" : fmt::format("{}/{}/{}", values.p50, values.p99, values.max);
}

std::string TextSummary(const RunRecord& run) {
  std::string text = fmt::format("{:<24} {:>4} {:>4}", "fault (ms: p50/p99/max)", "n", "fail");
  for (const auto& column : SummaryColumns()) text += fmt::format(" {:>17}", column.name);
  text += "\n";
  for (const auto& row : Summarize(run.faults)) {
    text += fmt::format("{:<24} {:>4} {:>4}", row.kind, row.injected, row.failed);
    for (const auto& column : SummaryColumns()) text += fmt::format(" {:>17}", TextCell(row.*column.values));
    text += "\n";
  }
  return text;
}

}  // namespace

std::string RenderText(const RunRecord& run) {
  std::string text = TextSummary(run);
  text += fmt::format("session timeout {} ms, part of `detect` when a process dies without closing its session\n\n",
                      run.session_timeout_ms);
  if (const std::string phases = PhaseTableText(CountPhases(run.faults)); !phases.empty()) text += phases + "\n";
  for (const auto& workload : run.workloads) {
    const WorkloadCounters& counters = workload.counters;
    text += fmt::format("{:<10} {:>9} ok {:>7} refused {:>6} unknown   longest gap {} ms\n", workload.name, counters.ok,
                        counters.failed, counters.unknown, counters.longest_gap.count());
  }
  text += fmt::format("fault points that were hit: {} of {}", run.fault_points.size(), run.fault_points_known);
  for (const auto& [name, times] : run.fault_points) text += fmt::format(" {} ({})", name, times);
  text += "\n";
  if (run.deaths) text += DeathsText(*run.deaths) + "\n";
  text += "\n";
  for (const auto& [kind, why] : run.skipped) text += fmt::format("  skip  {}: {}\n", kind, why);
  for (const auto& guard : run.guards) text += fmt::format("  {}  {}\n", guard.held ? "held" : "VOID", guard.text);
  for (const auto& finding : run.findings)
    text += fmt::format("  {}  {}\n", finding.good ? "ok  " : "FAIL", finding.text);
  text += fmt::format("\n{}  {}, {} faults, {:.1f} s, seed {}\n", VerdictName(run.verdict), run.scenario,
                      run.faults.size(), static_cast<double>(run.ended_ms - run.started_ms) / 1000.0, run.seed);
  if (!run.bundle.empty()) text += fmt::format("evidence: {}\n", run.bundle);
  if (run.verdict != Verdict::kPass) text += fmt::format("again: {}\n", run.command);
  return text;
}

}  // namespace ratchet::chaos
