// Vacuity guards: the conditions without which a run proves nothing. Pure.
//
// A run in which faults did not take effect, no client wrote, or half of all outcomes are unknown proves nothing,
// however quiet it was (etcd's robustness suite fails below a floor of traffic; HBASE-26984: a monkey that had died
// unnoticed).
#pragma once

#include <vector>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

struct GuardLimits {
  double traffic_floor = 20;          // operations per second before each fault
  double unknown_ceiling = 0.05;      // share of operations without a known outcome, over the whole run
  double master_kills_resumed = 0.5;  // share of master kills that met a procedure which a later epoch ended
};

[[nodiscard]] std::vector<Guard> CheckGuards(const RunRecord& run, const GuardLimits& limits);

// Returns FAIL when any finding is bad, whatever the guards are; otherwise INCONCLUSIVE when a guard does not hold or
// there is no finding.
[[nodiscard]] Verdict Decide(const std::vector<Finding>& findings, const std::vector<Guard>& guards);

[[nodiscard]] const char* VerdictName(Verdict verdict);
// Returns 0 for PASS, 1 for FAIL, 3 for INCONCLUSIVE (2 is a wrong flag).
[[nodiscard]] int ExitCodeOf(Verdict verdict);

}  // namespace ratchet::chaos
