#include "chaos/report/recovery_watch.h"

#include <algorithm>
#include <optional>

#include "chaos/cluster/process_cluster.h"
#include "chaos/report/phases.h"
#include "chaos/report/recovery.h"
#include "common/client/admin.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kEpochPatience{1'000};  // the master may just have died
constexpr Millis kPatience{10'000};
constexpr int kPhases = 16;      // procedures whose phase is read before a fault
constexpr int kCandidates = 20;  // procedures whose history is read to find one that was resumed

}  // namespace

std::uint64_t RecoveryWatch::Epoch() {
  client::Admin admin(connection_, kEpochPatience);
  const auto status = admin.Call(methods::kGetStatus, pb::GetStatusRequest());
  return status.ok() ? status->epoch() : 0;
}

std::vector<std::string> RecoveryWatch::PhasesNow() {
  client::Admin admin(connection_, kEpochPatience);
  const auto listed = admin.Call(methods::kListProcedures, pb::ListProceduresRequest());
  std::vector<std::string> phases;
  if (!listed.ok()) return phases;
  int read = 0;
  for (const auto& procedure : listed->procedure()) {
    if (procedure.finished() || !HasPhases(procedure.type()) || ++read > kPhases) continue;
    const auto whole = procedure.state() == "WAITING" ? GetProcedure(procedure.pid()) : procedure;
    const auto phase = whole.ok() ? PhaseOf(*whole) : std::nullopt;
    if (phase) phases.push_back(PhaseName(*phase));
  }
  return phases;
}

void RecoveryWatch::Look(std::vector<FaultLine>& faults) {
  client::Admin admin(connection_, kPatience);
  pb::ListProceduresRequest request;
  request.set_include_finished(true);
  request.set_limit(100'000);
  const auto procedures = admin.Call(methods::kListProcedures, request);
  if (procedures.ok()) {
    for (const auto& procedure : procedures->procedure()) {
      if (procedure.type() == "ServerCrash" && procedure.finished() && !seen_.contains(procedure.pid()))
        LookAtCrash(procedure, faults);
    }
    for (auto& fault : faults) {
      if (fault.kills_master && fault.error.empty() && fault.resumed_pid == 0) LookForResumed(*procedures, fault);
    }
  }
  for (auto& fault : faults) {
    const bool master = std::any_of(fault.victims.begin(), fault.victims.end(),
                                    [](const auto& victim) { return victim.starts_with("master"); });
    if (!master || !fault.error.empty() || looked_at_.contains(fault.injected_ms)) continue;
    LookAtTakeover(fault);
    if (fault.settled_ms) looked_at_.insert(fault.injected_ms);  // before that a takeover may still happen
  }
  LookAtGaps(faults);
}

Result<pb::ProcedureInfo> RecoveryWatch::GetProcedure(std::uint64_t pid) {
  client::Admin admin(connection_, kPatience);
  pb::GetProcedureRequest request;
  request.set_pid(pid);
  RATCHET_ASSIGN(auto answer, (admin.Call(methods::kGetProcedure, request)));
  if (!answer.has_procedure()) return Error(Code::kNotFound, "the procedure is no longer known");
  return std::move(*answer.mutable_procedure());
}

void RecoveryWatch::LookAtCrash(const pb::ProcedureInfo& listed, std::vector<FaultLine>& faults) {
  const auto crash = GetProcedure(listed.pid());
  if (!crash.ok()) return;
  seen_.insert(listed.pid());
  std::map<std::string, std::uint16_t> ports;
  if (processes_ != nullptr) {
    for (const auto& info : processes_->Processes()) ports[info.name] = info.port;
  }
  const auto submitted = static_cast<std::int64_t>(crash->submitted_wall_ms());
  const auto fault = FaultOfCrash(faults, ports, PortInText(crash->text()), submitted);
  if (!fault) return;
  FaultLine& line = faults[*fault];
  line.phases = Later(line.phases, PhasesOfCrash(*crash, line.injected_ms));
}

void RecoveryWatch::LookForResumed(const pb::ListProceduresResponse& procedures, FaultLine& fault) {
  // The procedure is known to have been unfinished, so no guess by times is needed.
  if (fault.unfinished_pid != 0) {
    const auto whole = GetProcedure(fault.unfinished_pid);
    if (whole.ok() && EndedByASuccessor(*whole, fault.epoch_before)) {
      fault.resumed_pid = fault.unfinished_pid;
      return;
    }
  }
  int asked = 0;
  for (const auto& procedure : procedures.procedure()) {
    const bool spans = static_cast<std::int64_t>(procedure.submitted_wall_ms()) <= fault.injected_ms &&
                       static_cast<std::int64_t>(procedure.updated_wall_ms()) >= fault.injected_ms;
    if (!procedure.finished() || !spans) continue;
    const auto whole = GetProcedure(procedure.pid());
    if (whole.ok() && EndedByASuccessor(*whole, fault.epoch_before)) {
      fault.resumed_pid = procedure.pid();
      return;
    }
    if (++asked == kCandidates) return;
  }
}

void RecoveryWatch::LookAtTakeover(FaultLine& fault) {
  if (processes_ == nullptr) return;
  // Use the master that was elected first after the fault; a standby that lost the race has no such line.
  std::optional<Phases> first;
  for (const auto& name : processes_->Names(Role::kMaster)) {
    std::vector<std::string> lines = processes_->LogLines(name, "elected as active master", 0);
    for (const auto& line : processes_->LogLines(name, "activation: ", 0)) lines.push_back(line);
    const Phases phases = PhasesOfTakeover(lines, fault.injected_ms);
    if (phases.detect && (!first || *phases.detect < *first->detect)) first = phases;
  }
  // A takeover long after the fault belongs to another one.
  if (first && (!fault.settled_ms || fault.injected_ms + *first->detect <= *fault.settled_ms))
    fault.phases = Later(fault.phases, *first);
}

void RecoveryWatch::LookAtGaps(std::vector<FaultLine>& faults) {
  if (prober_ == nullptr) return;
  const auto gaps = prober_->Gaps();
  for (std::size_t i = complete_faults_; i < faults.size(); ++i) {
    FaultLine& fault = faults[i];
    if (!fault.error.empty()) continue;
    // A fault that never settled has the longest gap, which is still in progress.
    const auto gap = LongestGap(gaps, fault.injected_ms, fault.settled_ms.value_or(SystemClock().WallMillis()));
    fault.gap_ms = gap ? gap->length() : 0;
    if (gap && fault.settled_ms) fault.phases.first_success = gap->to_ms - fault.injected_ms;
  }
  while (complete_faults_ < faults.size() &&
         (faults[complete_faults_].settled_ms || !faults[complete_faults_].error.empty()))
    ++complete_faults_;
}

}  // namespace ratchet::chaos
