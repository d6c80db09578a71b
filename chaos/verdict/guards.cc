#include "chaos/verdict/guards.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/exit_codes.h"

namespace ratchet::chaos {
namespace {

// One fault in ten may fail, because the step at which it should happen did not occur in time: it is reported, and
// breaks nothing. This guard detects a driver that breaks nothing at all, or whose faults have no proof.
Guard FaultsHappened(const std::vector<FaultLine>& faults) {
  std::size_t shown = 0;
  std::size_t without_evidence = 0;
  const FaultLine* first = nullptr;
  for (const auto& fault : faults) {
    if (fault.error.empty() && !fault.evidence.empty()) {
      ++shown;
      continue;
    }
    if (fault.error.empty()) ++without_evidence;
    if (first == nullptr) first = &fault;
  }
  const std::size_t missed = faults.size() - shown;
  const std::size_t may_miss = shown >= 3 ? std::max<std::size_t>(1, faults.size() / 10) : 0;
  std::string text = fmt::format("{} of {} faults shown to have happened", shown, faults.size());
  if (first != nullptr) {
    text += fmt::format("; the first that is not: {} ({})", first->kind,
                        first->error.empty() ? "no evidence" : first->error);
  }
  return {shown > 0 && without_evidence == 0 && missed <= may_miss, std::move(text)};
}

Guard TrafficFloor(const std::vector<FaultLine>& faults, double floor) {
  const auto lowest = std::min_element(
      faults.begin(), faults.end(), [](const auto& a, const auto& b) { return a.traffic_before < b.traffic_before; });
  if (lowest == faults.end()) return {false, "no fault, so no traffic before one"};
  return {lowest->traffic_before >= floor,
          fmt::format("at least {:.0f} operations/s before each fault (floor {:.0f}){}", lowest->traffic_before, floor,
                      lowest->traffic_before >= floor ? "" : fmt::format("; lowest before {}", lowest->kind))};
}

Guard UnknownCeiling(const std::vector<WorkloadLine>& workloads, double ceiling) {
  std::uint64_t all = 0;
  std::uint64_t unknown = 0;
  for (const auto& workload : workloads) {
    const WorkloadCounters& counters = workload.counters;
    all += counters.ok + counters.failed + counters.unknown;
    unknown += counters.unknown;
  }
  if (all == 0) return {false, "no operation at all"};
  const double share = static_cast<double>(unknown) / static_cast<double>(all);
  return {share <= ceiling, fmt::format("{} of {} operations of unknown outcome, {:.2f} % (ceiling {:.2f} %)", unknown,
                                        all, share * 100, ceiling * 100)};
}

Guard MasterKillsResumed(const std::vector<FaultLine>& faults, double floor) {
  std::size_t kills = 0;
  std::size_t resumed = 0;
  for (const auto& fault : faults) {
    if (!fault.kills_master || !fault.error.empty()) continue;
    ++kills;
    if (fault.resumed_pid != 0) ++resumed;
  }
  return {static_cast<double>(resumed) >= floor * static_cast<double>(kills),
          fmt::format("{} of {} kills of a master met a procedure that a later epoch ended (floor {:.0f} %)", resumed,
                      kills, floor * 100)};
}

Guard EveryWorkloadRan(const RunRecord& run) {
  const auto& workloads = run.workloads;
  if (!run.missing_workloads.empty()) {
    const auto& [name, why] = run.missing_workloads.front();
    return {false, fmt::format("workload {} is UNAVAILABLE: {}", name, why)};
  }
  for (const auto& workload : workloads) {
    if (workload.counters.ok == 0) return {false, fmt::format("workload {} got no answer at all", workload.name)};
  }
  return {!workloads.empty(), fmt::format("{} workloads got answers", workloads.size())};
}

}  // namespace

std::vector<Guard> CheckGuards(const RunRecord& run, const GuardLimits& limits) {
  std::vector<Guard> guards = {FaultsHappened(run.faults), TrafficFloor(run.faults, limits.traffic_floor),
                               UnknownCeiling(run.workloads, limits.unknown_ceiling), EveryWorkloadRan(run),
                               MasterKillsResumed(run.faults, limits.master_kills_resumed)};
  if (run.interrupted) guards.push_back({false, "ended by hand before everything was done and checked"});
  return guards;
}

Verdict Decide(const std::vector<Finding>& findings, const std::vector<Guard>& guards) {
  if (std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return !finding.good; }))
    return Verdict::kFail;
  const bool held = std::all_of(guards.begin(), guards.end(), [](const Guard& guard) { return guard.held; });
  return held && !findings.empty() && !guards.empty() ? Verdict::kPass : Verdict::kInconclusive;
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass: return "PASS";
    case Verdict::kFail: return "FAIL";
    case Verdict::kInconclusive: return "INCONCLUSIVE";
  }
  return "?";
}

int ExitCodeOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass: return exit_code::kOk;
    case Verdict::kFail: return exit_code::kFailed;
    case Verdict::kInconclusive: return exit_code::kInconclusive;
  }
  return exit_code::kFailed;
}

}  // namespace ratchet::chaos
