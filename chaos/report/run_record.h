// The record of a chaos run, as plain data: the guards, the verdict and all forms of the report are functions of it.
//
// Times are wall-clock milliseconds of the machine that drives the run; durations are milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// Phases of a recovery, each in ms after the injection; absent: did not happen, or was not seen.
struct Phases {
  std::optional<std::int64_t> detect;         // the crash procedure was submitted; a standby was elected
  std::optional<std::int64_t> fence;          // the dead server's logs are marked; the procedure store is claimed
  std::optional<std::int64_t> split;          // its logs are split
  std::optional<std::int64_t> assign;         // its regions are open elsewhere; the new master admits requests
  std::optional<std::int64_t> first_success;  // the client that had waited longest was answered
  bool operator==(const Phases&) const = default;
};

// A fault met the cluster in the middle of something else.
struct PhaseHit {
  std::string kind;   // of the fault
  std::string phase;  // PhaseName (phases.h)
  bool operator==(const PhaseHit&) const = default;
};

struct FaultLine {
  std::string kind;
  std::vector<std::string> victims;
  std::string evidence;
  std::string error;  // the reason why it did not take effect; empty: it did
  std::int64_t injected_ms = 0;
  std::optional<std::int64_t> healed_ms;
  std::optional<std::int64_t> settled_ms;
  double traffic_before = 0;  // operations answered in the second before it
  bool kills_master = false;
  std::uint64_t epoch_before = 0;    // epoch of the active master; 0: none answered
  std::uint64_t unfinished_pid = 0;  // a procedure that was unfinished at the kill; 0: not examined
  std::uint64_t resumed_pid = 0;  // a procedure that a killed master left unfinished and a later epoch ended; 0: none
  Phases phases;
  std::int64_t gap_ms = 0;    // longest time without an answer of any probe
  std::vector<PhaseHit> met;  // what was in progress when it struck
};

// The findings of masters about deaths. Early: ahead of the ZooKeeper session.
struct DeathFigures {
  std::map<std::string, std::uint64_t> by_reason;  // region servers that were expired
  std::uint64_t early = 0;
  std::uint64_t early_of_masters = 0;  // part of `early`: active masters that a standby replaced
  std::uint64_t excused = 0;           // early, about a process that lived, during a fault that explains it
  std::uint64_t false_findings = 0;    // early, about a process that lived
  std::uint64_t not_judged = 0;        // early
  bool operator==(const DeathFigures&) const = default;
};

struct RunEvent {
  std::int64_t at_ms = 0;
  std::string what;
  std::string detail;
};

struct TrafficSample {
  std::int64_t at_ms = 0;
  std::uint64_t ok = 0;  // since the start
  std::uint64_t unknown = 0;
};

struct WorkloadLine {
  std::string name;
  WorkloadCounters counters;
};

// A condition without which the run proves nothing.
struct Guard {
  bool held = false;
  std::string text;
};

enum class Verdict { kPass, kFail, kInconclusive };

struct RunRecord {
  std::string scenario;
  std::string target;
  std::uint64_t seed = 0;
  std::string command;  // repeats the run
  std::int64_t session_timeout_ms = 0;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  std::vector<FaultLine> faults;
  std::vector<std::pair<std::string, std::string>> skipped;  // kind of fault -> the reason why it is impossible here
  std::vector<std::pair<std::string, std::string>> missing_workloads;  // the same of workloads that the run lacks
  std::vector<RunEvent> events;
  std::vector<TrafficSample> traffic;
  std::vector<WorkloadLine> workloads;
  std::vector<Finding> findings;
  std::vector<Guard> guards;
  std::map<std::string, std::uint64_t> fault_points;  // fault points that were hit, with counts
  std::size_t fault_points_known = 0;
  bool interrupted = false;  // ended by hand
  std::string bundle;        // directory with the evidence of a failing run
  Verdict verdict = Verdict::kInconclusive;
  std::optional<DeathFigures> deaths;  // nullopt: the masters' logs were not read
};

}  // namespace ratchet::chaos
