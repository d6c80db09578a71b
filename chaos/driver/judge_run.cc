// Judges a run, and collects its evidence.
#include <fmt/format.h>

#include "chaos/driver/chaos_run.h"
#include "chaos/report/bundle.h"
#include "chaos/verdict/cluster_checks.h"
#include "chaos/verdict/gap_bounds.h"
#include "chaos/verdict/guards.h"
#include "chaos/verdict/openings.h"
#include "chaos/verdict/stored_files.h"
#include "common/base/fault_point.h"
#include "common/client/admin.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {

Finding ChaosRun::Settled() {
  const std::int64_t start = Now();
  Status settled = target_->WaitServing(options_.settle);
  client::Admin admin(*connection_);
  std::uint32_t unfinished = 0;
  if (settled.ok()) {
    const Millis left{options_.settle.count() - (Now() - start)};
    settled = WaitUntil("an end of all procedures", left, [&] {
      const auto status = admin.Call(methods::kGetStatus, pb::GetStatusRequest());
      unfinished = status.ok() ? status->procedures_unfinished() : unfinished;
      return status.ok() && unfinished == 0;
    });
  }
  if (!settled.ok()) {
    return {false, fmt::format("the cluster did not settle: {}; {} procedures unfinished", settled.error().ToString(),
                               unfinished)};
  }
  return {true,
          fmt::format("nothing in transition and no procedure unfinished {} ms after the load ended", Now() - start)};
}

void ChaosRun::Judge() {
  if (!broken_.ok()) record_.findings.push_back({false, broken_.error().ToString()});
  // If the user has ended the run by hand, it must end soon: findings so far count, and no further check runs.
  record_.interrupted = stop_;
  if (record_.interrupted) {
    Note("interrupted", "the load has stopped and every fault is healed; no check runs");
    NoteDeaths();
  } else {
    CheckEverything();
    record_.interrupted = stop_;
  }
  CountFaultPoints();
  record_.guards = CheckGuards(record_, options_.limits());
  record_.verdict = Decide(record_.findings, record_.guards);
}

void ChaosRun::CheckEverything() {
  record_.findings.push_back(Settled());
  if (second_ != nullptr) {  // after these checks shipping and its procedures are idle
    CheckWorkloads(/*of_two_clusters=*/true);
    record_.findings.push_back(Settled());
  }
  NoteDeaths();
  watch_->Look(record_.faults);  // faults that were still in progress at the last check
  record_.findings.push_back(JudgeGaps(record_.faults, record_.session_timeout_ms, options_.gap_factor));
  for (auto& finding : CheckCluster(*connection_, target_->Root())) record_.findings.push_back(std::move(finding));
  record_.findings.push_back(ranges_->Judge());
  record_.findings.push_back(JudgeOpenings(Openings()));
  if (auto moves = Moves(); !moves.empty() || target_->processes() != nullptr) {
    record_.findings.push_back(JudgeMoves(std::move(moves)));
  }
  CheckEarlyFindings();
  CheckWorkloads(/*of_two_clusters=*/false);
  if (stop_) return;
  record_.findings.push_back(JudgePeaks(resources_.peaks()));
  CheckStoredFiles();
}

// The last check: it ends the cluster.
void ChaosRun::CheckStoredFiles() {
  if (options_.target != "local" || options_.storage != "local") return;
  Note("checking", "every file of the cluster, which is stopped for it");
  target_->processes()->KillAll();
  record_.findings.push_back(JudgeStoredFiles(ReadStoredFiles(target_->processes()->root())));
}

std::vector<LoggedMove> ChaosRun::Moves() {
  std::vector<LoggedMove> moves;
  for (const auto& name : target_->Names(Role::kMaster)) {
    MoveLog log(name);
    target_->ReadLog(name, [&](const std::string& line) {
      if (auto move = log.Read(line)) moves.push_back(std::move(*move));
    });
  }
  return moves;
}

std::map<std::string, std::uint64_t> ChaosRun::LogSizes() {
  std::map<std::string, std::uint64_t> sizes;
  ProcessCluster* processes = target_->processes();
  if (processes == nullptr) return sizes;
  for (const Role role : kMembers) {
    for (const auto& name : target_->Names(role)) sizes[name] = processes->LogSize(name);
  }
  return sizes;
}

// Needs the processes as they are now: one that runs has lived until now.
void ChaosRun::CheckEarlyFindings() {
  ProcessCluster* processes = target_->processes();
  if (processes == nullptr) return;
  EarlyEvidence evidence;
  evidence.changes = processes->changes();
  evidence.faults = record_.faults;
  for (const Role role : kMembers) {
    for (const auto& name : target_->Names(role)) {
      MemberLog log(name, evidence.changes, wrong_clocks_);
      target_->ReadLog(name, [&](const std::string& line) { log.Read(line); });
      log.End(target_->Running(name) ? std::optional(Now()) : std::nullopt);
      evidence.lives.insert(evidence.lives.end(), log.lives().begin(), log.lives().end());
      evidence.deaths.insert(evidence.deaths.end(), log.deaths().begin(), log.deaths().end());
    }
  }
  EarlyVerdict verdict = JudgeEarlyFindings(evidence);
  record_.deaths = std::move(verdict.figures);
  record_.findings.push_back(std::move(verdict.finding));
}

void ChaosRun::CheckWorkloads(bool of_two_clusters) {
  for (auto& workload : workloads_) {
    if (NeedsSecondCluster(workload->name()) != of_two_clusters) continue;
    if (stop_) return;
    Note("checking", std::string(workload->name()));
    for (auto& finding : workload->Check()) {
      finding.text = fmt::format("{}: {}", workload->name(), finding.text);
      record_.findings.push_back(std::move(finding));
    }
  }
}

std::vector<Opening> ChaosRun::Openings() {
  std::vector<Opening> openings;
  for (const auto& name : target_->Names(Role::kRegionServer)) {
    target_->ReadLog(name, [&](const std::string& line) {
      if (auto opening = ParseOpening(name, line)) openings.push_back(std::move(*opening));
    });
  }
  return openings;
}

void ChaosRun::CountFaultPoints() {
  record_.fault_points_known = FaultPoints::Instance().Names().size();
  ProcessCluster* processes = target_->processes();
  if (processes == nullptr) return;
  constexpr std::string_view kMark = "fault point ";
  for (const auto& info : processes->Processes()) {
    for (const auto& line : processes->LogLines(info.name, std::string(kMark), 0)) {
      const auto from = line.find(kMark) + kMark.size();
      ++record_.fault_points[line.substr(from, line.find(' ', from) - from)];
    }
  }
}

void ChaosRun::KeepHistory() {
  if (options_.history.empty()) return;
  if (const Status written = WriteHistories(options_.history, record_, workloads_); !written.ok()) {
    record_.findings.push_back(
        {false, fmt::format("the history in {} is not complete: {}", options_.history, written.error().ToString())});
    record_.verdict = Decide(record_.findings, record_.guards);
  }
  Note("history", "in " + options_.history);
}

void ChaosRun::LeaveBundle() {
  record_.bundle = options_.bundle.empty() ? options_.dir + "-bundle" : options_.bundle;
  const Status written = WriteBundle(record_.bundle, record_, target_.get(), workloads_);
  if (!written.ok()) Note("bundle", "not complete: " + written.error().ToString());
  if (second_ == nullptr) return;
  const Status second = second_->Collect(std::filesystem::path(record_.bundle) / "second");
  if (!second.ok()) Note("bundle", "without the second cluster: " + second.error().ToString());
}

}  // namespace ratchet::chaos
