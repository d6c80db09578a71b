#include "chaos/driver/chaos_run.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "chaos/driver/clean_up.h"
#include "chaos/faults/victims.h"
#include "chaos/report/bundle.h"
#include "chaos/verdict/cluster_checks.h"
#include "chaos/verdict/guards.h"
#include "chaos/verdict/openings.h"
#include "common/base/fault_point.h"
#include "common/client/admin.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr int kProbes = 6;
constexpr Millis kOperationTimeout{30'000};
constexpr Millis kAttemptTimeout{2'000};  // a paused server answers nothing; its regions soon do elsewhere
constexpr Millis kWarmUpPatience{60'000};
constexpr std::int64_t kLookEveryMs = 1000;
constexpr std::int64_t kSampleEveryMs = 2000;  // memory and descriptors; a container engine is asked for each process

std::string Millisecs(const char* name, const std::optional<std::int64_t>& value) {
  return value ? fmt::format(" {} {}", name, *value) : "";
}

// A member cannot be lost where there is only one.
int MembersNeeded(const std::vector<WeightedFault>& mix) {
  const bool ensemble = std::any_of(mix.begin(), mix.end(), [](const WeightedFault& weighted) {
    const auto fault = MakeFault(weighted.kind);
    return fault.ok() && (*fault)->Needs() == kNeedsEnsemble;
  });
  return ensemble ? 3 : 1;
}

std::string RecoveryText(const FaultLine& fault) {
  const Phases& phases = fault.phases;
  return fmt::format("{}{}{}{}{}{} gap {} settled {} ms{}", fault.kind, Millisecs("detect", phases.detect),
                     Millisecs("fence", phases.fence), Millisecs("split", phases.split),
                     Millisecs("assign", phases.assign), Millisecs("first success", phases.first_success), fault.gap_ms,
                     fault.settled_ms.value_or(fault.injected_ms) - fault.injected_ms,
                     fault.resumed_pid != 0 ? fmt::format("; pid {} was taken over", fault.resumed_pid) : "");
}

}  // namespace

ChaosRun::ChaosRun(ChaosOptions options, Plan plan, Console& console, const std::atomic<bool>& stop)
    : options_(std::move(options)), plan_(std::move(plan)), console_(console), stop_(stop) {
  record_.scenario = plan_.name;
  record_.target = options_.target;
  record_.seed = static_cast<std::uint64_t>(options_.seed);
  record_.command = ReplayCommand(options_);
  record_.started_ms = Now();
}

ChaosRun::~ChaosRun() {
  sampler_.reset();
  workloads_.clear();
  ranges_.reset();
  prober_.reset();
}

Result<RunRecord> ChaosRun::Run() {
  if (!options_.history.empty()) RATCHET_TRY(BeginHistories(options_.history, record_));
  RATCHET_TRY(Boot());
  RATCHET_TRY(ChooseFaults());
  if (!stop_) RATCHET_TRY(PrepareLoad());
  if (!stop_) {
    StartLoad();
    broken_ = WarmUp();
    if (broken_.ok() && !stop_) Break();
    StopLoad();
  }
  Judge();
  record_.ended_ms = Now();
  KeepHistory();
  if (record_.verdict != Verdict::kPass) LeaveBundle();
  RemoveTables();
  return std::move(record_);
}

void ChaosRun::RemoveTables() {
  if (options_.target == "local" || record_.verdict == Verdict::kFail) return;
  for (const std::string& left : RemoveNewTables(*connection_, tables_before_)) Note("table left behind", left);
}

Status ChaosRun::Boot() {
  const std::int64_t start = Now();
  if (options_.target == "running") {
    RATCHET_ASSIGN(target_, AttachTarget(options_.dir));
  } else if (options_.target == "compose") {
    ComposeOptions compose;
    if (!options_.dir.empty()) compose.directory = options_.dir;
    compose.project = options_.project;
    RATCHET_ASSIGN(target_, MakeComposeTarget(compose));
  } else {
    ClusterSpec spec;
    spec.dir = options_.dir;
    spec.zookeepers = options_.zookeepers != 0 ? static_cast<int>(options_.zookeepers) : MembersNeeded(plan_.mix);
    spec.masters = static_cast<int>(options_.masters);
    spec.servers = static_cast<int>(options_.servers);
    spec.session_timeout = options_.session;
    spec.storage = options_.storage;
    LocalTargetOptions local;
    local.disk_bytes = options_.storage == "local" ? options_.disk_bytes : 0;
    local.seed = record_.seed;
    RATCHET_ASSIGN(target_, MakeLocalTarget(spec, local));
  }
  RATCHET_TRY(target_->WaitServing(options_.settle));
  record_.session_timeout_ms = target_->session_timeout().count();
  client::ConnectionOptions connect;
  connect.zookeeper = target_->zookeeper();
  connect.user = "chaos";
  connect.operation_timeout = kOperationTimeout;
  connect.rpc_timeout = kAttemptTimeout;
  RATCHET_ASSIGN(connection_, client::Connection::Open(connect));
  if (options_.target != "local") {
    RATCHET_ASSIGN(tables_before_, client::Admin(*connection_).ListTables());
  }
  Note("cluster up", fmt::format("{}: {} ZooKeeper, {} masters, {} region servers, in {} ms", target_->kind(),
                                 target_->Names(Role::kZooKeeper).size(), target_->Names(Role::kMaster).size(),
                                 target_->Names(Role::kRegionServer).size(), Now() - start));
  return Ok();
}

Status ChaosRun::ChooseFaults() {
  std::vector<WeightedFault> possible;
  for (const auto& weighted : plan_.mix) {
    RATCHET_ASSIGN(auto fault, MakeFault(weighted.kind));
    if (const auto why = fault->Unavailable(*target_)) {
      record_.skipped.emplace_back(weighted.kind, *why);
      Note("skipped", fmt::format("{}: {}", weighted.kind, *why));
    } else {
      possible.push_back(weighted);
    }
  }
  if (possible.empty()) return Error(Code::kFailedPrecondition, "none of the faults can be done here");
  plan_.mix = std::move(possible);
  return Ok();
}

Status ChaosRun::PrepareLoad() {
  const std::int64_t start = Now();
  const std::string prefix = fmt::format("c{}_", Now() % 1'000'000'000);  // runs on one cluster do not meet
  prober_ = std::make_unique<Prober>(*connection_, prefix, kProbes);
  RATCHET_TRY(prober_->Prepare());
  Prng prng(record_.seed);
  for (const auto& name : options_.workloads) {
    WorkloadContext context{*connection_,
                            prng.Next(),
                            static_cast<int>(options_.threads),
                            static_cast<int>(options_.regions),
                            prefix,
                            !options_.history.empty()};
    RATCHET_ASSIGN(auto workload, MakeWorkload(name, context));
    const Status prepared = workload->Prepare();
    if (!prepared.ok()) return prepared.error().Annotate(fmt::format("preparing {}", name));
    workloads_.push_back(std::move(workload));
  }
  ranges_ = std::make_unique<RangeWatch>(*connection_);
  watch_ = std::make_unique<RecoveryWatch>(*connection_, target_->processes(), prober_.get());
  Note("load prepared", fmt::format("{} in {} ms", fmt::join(options_.workloads, ", "), Now() - start));
  return Ok();
}

void ChaosRun::StartLoad() {
  for (auto& workload : workloads_) workload->Start();
  prober_->Start();
  ranges_->Start();
  sampler_ = std::make_unique<TrafficSampler>([this] { return Total(); });
}

Status ChaosRun::WarmUp() {
  const std::int64_t until = Now() + kWarmUpPatience.count();
  for (int round = 0;; ++round) {
    const bool all = std::all_of(workloads_.begin(), workloads_.end(),
                                 [](const auto& workload) { return workload->counters().ok > 0; });
    if (all && sampler_->Rate() >= options_.min_traffic) break;
    if (Now() >= until) {
      return Error(Code::kTimeout, fmt::format("no traffic: {:.0f} operations/s after {} ms", sampler_->Rate(),
                                               kWarmUpPatience.count()));
    }
    if (stop_) return Ok();
    PollPause(round);
  }
  Note("warm", fmt::format("{:.0f} operations/s", sampler_->Rate()));
  return Ok();
}

void ChaosRun::Break() {
  const auto schedule = MakeSchedule(plan_.mix, options_.duration, plan_.period, record_.seed);
  FaultLoopOptions loop_options;
  loop_options.duration = options_.duration;
  loop_options.intensity = plan_.intensity;
  loop_options.traffic_floor = options_.min_traffic;
  loop_options.settle_bound = options_.settle;
  chaos_started_ms_ = Now();
  FaultLoop loop(*target_, loop_options, Hooks());
  broken_ = loop.Run(schedule);
  if (!broken_.ok()) Note("not recovered", broken_.error().ToString());
  watch_->Look(loop.lines());
  record_.faults = std::move(loop.lines());
}

FaultLoopHooks ChaosRun::Hooks() {
  FaultLoopHooks hooks;
  hooks.make = [](const std::string& kind) { return MakeFault(kind); };
  hooks.traffic = [this] { return sampler_->Rate(); };
  hooks.wall_ms = [this] { return Now(); };
  hooks.stop = [this] { return stop_.load(); };
  hooks.tick = [this] { Tick(); };
  hooks.before = [this](FaultLine& line) { line.epoch_before = watch_->Epoch(); };
  hooks.injected = [this](const FaultLine& line) {
    if (line.error.empty())
      Note(line.kind, fmt::format("{}: {}", fmt::join(line.victims, ", "), line.evidence));
    else
      Note("no effect", fmt::format("{}: {}", line.kind, line.error));
  };
  hooks.healed = [this](const FaultLine& line) {
    Note("healed", fmt::format("{} after {} ms", line.kind, *line.healed_ms - line.injected_ms));
  };
  hooks.settled = [this](std::vector<FaultLine>& lines) { NoteRecoveries(lines); };
  return hooks;
}

void ChaosRun::NoteRecoveries(std::vector<FaultLine>& faults) {
  watch_->Look(faults);
  NoteDeaths();
  told_.resize(faults.size());
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (!faults[i].error.empty() || !faults[i].settled_ms || told_[i]) continue;
    told_[i] = true;
    Note("recovered", RecoveryText(faults[i]));
  }
}

void ChaosRun::NoteDeaths() {
  for (const auto& death : target_->TakeDeaths()) {
    Note(death.expected ? "left" : "DIED", fmt::format("{} with exit code {}", death.name, death.exit_code));
    if (!death.expected) {
      record_.findings.push_back(
          {false, fmt::format("{} ended by itself with exit code {}", death.name, death.exit_code)});
    }
  }
}

void ChaosRun::Tick() {
  const std::int64_t now = Now();
  if (now - last_look_ms_ < kLookEveryMs) return;
  last_look_ms_ = now;
  if (now - last_sample_ms_ >= kSampleEveryMs) {
    last_sample_ms_ = now;
    resources_.Look(target_->Pids());
  }
  const auto total = Total();
  const auto seconds = (now - chaos_started_ms_) / 1000;
  console_.Bar(static_cast<double>(now - chaos_started_ms_) / static_cast<double>(options_.duration.count()),
               fmt::format("{}/{} s, {:.0f} operations/s, {} answered, {} unknown", seconds,
                           options_.duration.count() / 1000, sampler_->Rate(), total.ok, total.unknown));
}

void ChaosRun::StopLoad() {
  Note("stopping load", fmt::format("{} operations answered", Total().ok));
  // All at once: one that waits for its last answers does not keep the others going.
  for (auto& workload : workloads_) workload->AskToStop();
  for (auto& workload : workloads_) workload->Stop();
  prober_->Stop();
  ranges_->Stop();
  record_.traffic = sampler_->Samples();
  sampler_.reset();
  for (const auto& workload : workloads_) {
    record_.workloads.push_back({std::string(workload->name()), workload->counters()});
  }
}

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
  // A user that ends a run by hand wants an end: what has been found counts, the rest is not looked at.
  record_.interrupted = stop_;
  if (record_.interrupted) {
    Note("interrupted", "the load has stopped and every fault is healed; nothing is checked");
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
  NoteDeaths();
  watch_->Look(record_.faults);  // what was still going on at the last look
  for (auto& finding : CheckCluster(*connection_, target_->Root())) record_.findings.push_back(std::move(finding));
  record_.findings.push_back(ranges_->Judge());
  record_.findings.push_back(JudgeOpenings(Openings()));
  for (auto& workload : workloads_) {
    if (stop_) return;
    Note("checking", std::string(workload->name()));
    for (auto& finding : workload->Check()) {
      finding.text = fmt::format("{}: {}", workload->name(), finding.text);
      record_.findings.push_back(std::move(finding));
    }
  }
  record_.findings.push_back(JudgePeaks(resources_.peaks()));
}

std::vector<Opening> ChaosRun::Openings() {
  std::vector<Opening> openings;
  for (const auto& name : target_->Names(Role::kRegionServer)) {
    for (const auto& line : target_->LogLines(name, "Opened region ")) {
      if (auto opening = ParseOpening(name, line)) openings.push_back(std::move(*opening));
    }
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
}

WorkloadCounters ChaosRun::Total() const {
  WorkloadCounters total;
  for (const auto& workload : workloads_) {
    const WorkloadCounters counters = workload->counters();
    total.ok += counters.ok;
    total.failed += counters.failed;
    total.unknown += counters.unknown;
  }
  return total;
}

void ChaosRun::Note(const std::string& what, const std::string& detail) {
  record_.events.push_back({Now(), what, detail});
  console_.Event(record_.events.back().at_ms, what, detail);
}

}  // namespace ratchet::chaos
