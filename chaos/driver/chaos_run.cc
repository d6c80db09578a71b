#include "chaos/driver/chaos_run.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "chaos/cluster/credentials.h"
#include "chaos/driver/clean_up.h"
#include "chaos/driver/overlap_rules.h"
#include "chaos/faults/victims.h"
#include "chaos/report/bundle.h"
#include "chaos/report/phases.h"
#include "chaos/second/local_second_cluster.h"
#include "chaos/shim/process_shims.h"
#include "chaos/workloads/access_oracle.h"
#include "common/client/admin.h"

namespace ratchet::chaos {
namespace {

constexpr int kProbes = 6;
constexpr const char* kAccess = "access";
constexpr Millis kOperationTimeout{30'000};
constexpr Millis kAttemptTimeout{2'000};  // a paused server answers nothing; its regions soon open elsewhere
constexpr Millis kWarmUpPatience{60'000};
constexpr std::int64_t kLookEveryMs = 1000;
constexpr std::int64_t kPhaseHeldMs = 200;     // long enough to be seen and struck in
constexpr std::int64_t kSampleEveryMs = 2000;  // memory and descriptors; a container engine is asked for each process

std::string Millisecs(const char* name, const std::optional<std::int64_t>& value) {
  return value ? fmt::format(" {} {}", name, *value) : "";
}

// A member can be lost only in an ensemble.
int MembersNeeded(const std::vector<WeightedFault>& mix) {
  const bool ensemble = std::any_of(mix.begin(), mix.end(), [](const WeightedFault& weighted) {
    const auto fault = MakeFault(weighted.kind);
    return fault.ok() && (*fault)->Needs() == kNeedsEnsemble;
  });
  return ensemble ? 3 : 1;
}

bool ChangesClocks(const FaultLine& fault) { return fault.kind.starts_with("clock-"); }

// Phases are held only where that is the point of the run: "everything" breaks masters that run at full speed.
bool HoldsPhases(const Plan& plan) {
  return plan.name != "everything" && std::any_of(plan.mix.begin(), plan.mix.end(), [](const WeightedFault& weighted) {
           return weighted.kind == "in-phase";
         });
}

bool NeedsZnodes(const std::vector<std::string>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(), NeedsClientProgram);
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
  RATCHET_TRY(ChooseWorkloads());
  RATCHET_TRY(Boot());
  RATCHET_TRY(ChooseFaults());
  if (!stop_) RATCHET_TRY(BootSecond());
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

Status ChaosRun::ChooseWorkloads() {
  std::vector<std::string> possible;
  for (const auto& name : options_.workloads) {
    if (const auto why = WhyNoWorkload(name, options_.clients)) {
      record_.missing_workloads.emplace_back(name, *why);
      Note("UNAVAILABLE", fmt::format("workload {}: {}", name, *why));
    } else {
      possible.push_back(name);
    }
  }
  options_.workloads = std::move(possible);
  if (!options_.workloads.empty()) return Ok();
  return Error(Code::kFailedPrecondition, "none of the workloads can run here");
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
    if (HoldsPhases(plan_)) spec.environment = ArmedWith(HoldPhases(kPhaseHeldMs));
    // HBase's clients look for hbase:meta in ZooKeeper.
    if (NeedsZnodes(options_.workloads)) spec.environment["RATCHET_PUBLISH_CLIENT_ZNODES"] = "true";
    // Processes of a version before 0.3 show the key in clear, which a new cluster does not take.
    if (!options_.released.empty()) spec.environment["RATCHET_MEMBER_PROOF"] = "accept";
    if (options_.secure) RATCHET_TRY(SecureCluster(spec));
    LocalTargetOptions local;
    local.disk_bytes = options_.storage == "local" ? options_.disk_bytes : 0;
    local.seed = record_.seed;
    RATCHET_ASSIGN(target_, MakeLocalTarget(spec, local));
  }
  if (!options_.released.empty() && target_->processes() != nullptr) {
    RATCHET_TRY(target_->processes()->FindReleased(options_.released));
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

Status ChaosRun::SecureCluster(ClusterSpec& spec) {
  for (const std::string& name : options_.workloads) {
    if (!NeedsSecondCluster(name) && !NeedsClientProgram(name)) continue;
    return Error(Code::kInvalidArgument, fmt::format("--secure cannot run the workload {}: it has no TLS", name));
  }
  if (!options_.released.empty())
    return Error(Code::kInvalidArgument, "--secure cannot run programs of a release (--released): they have no TLS");
  RATCHET_TRY(Secure(spec));
  RATCHET_ASSIGN(auto own, ClientTls(CredentialsDir(spec), {"admin.pem"}));
  tls::ProcessTls::SetOfProcess(std::move(own));
  return Ok();
}

Status ChaosRun::BootSecond() {
  const auto wants = std::find_if(options_.workloads.begin(), options_.workloads.end(), NeedsSecondCluster);
  if (wants == options_.workloads.end()) return Ok();
  if (options_.target != "local") {
    return Error(Code::kInvalidArgument,
                 fmt::format("the workload {} needs a second cluster, which only --target local starts", *wants));
  }
  const std::int64_t start = Now();
  SecondClusterSpec spec;
  spec.dir = std::filesystem::path(options_.dir) / "second";
  spec.session_timeout = options_.session;
  spec.boot_timeout = std::max(spec.boot_timeout, options_.settle);
  spec.seed = record_.seed;
  for (const auto& info : target_->processes()->Processes()) {
    if (info.role == Role::kRegionServer) spec.first_servers.push_back(info.port);
  }
  RATCHET_ASSIGN(second_, MakeLocalSecondCluster(std::move(spec)));
  Note("second cluster up", fmt::format("in {} ms", Now() - start));
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
  if (possible.empty()) return Error(Code::kFailedPrecondition, "none of the faults is possible on this target");
  plan_.mix = std::move(possible);
  return Ok();
}

Status ChaosRun::PrepareLoad() {
  const std::int64_t start = Now();
  const std::string prefix = fmt::format("c{}_", Now() % 1'000'000'000);  // separates runs on one cluster
  prober_ = std::make_unique<Prober>(*connection_, prefix, kProbes);
  RATCHET_TRY(prober_->Prepare());
  Prng prng(record_.seed);
  for (const auto& name : options_.workloads) {
    WorkloadContext context{*connection_,
                            prng.Next(),
                            static_cast<int>(options_.threads),
                            static_cast<int>(options_.regions),
                            prefix,
                            !options_.history.empty(),
                            second_.get(),
                            options_.settle,
                            target_->Exports().value_or(std::filesystem::path())};
    AddAddresses(context);
    RATCHET_TRY(AddWorkload(name, context));
    const bool secured = target_->processes() != nullptr && IsSecured(target_->processes()->spec());
    if (secured && name == options_.workloads.back()) RATCHET_TRY(AddWorkload(kAccess, context));
  }
  ranges_ = std::make_unique<RangeWatch>(*connection_);
  watch_ = std::make_unique<RecoveryWatch>(*connection_, target_->processes(), prober_.get());
  Note("load prepared", fmt::format("{} in {} ms", fmt::join(options_.workloads, ", "), Now() - start));
  return Ok();
}

Status ChaosRun::AddWorkload(const std::string& name, const WorkloadContext& context) {
  std::unique_ptr<Workload> workload;
  if (name == kAccess) {
    const ClusterSpec& spec = target_->processes()->spec();
    AccessOracleOptions options{CredentialsDir(spec), AuditDir(spec), spec.authority};
    if (const ProcessShims* shims = target_->shims(); shims != nullptr)
      options.wrong_times = [shims] { return shims->ClockReadsChanged(); };
    workload = MakeAccessOracle(context, std::move(options));
  } else {
    RATCHET_ASSIGN(workload, MakeWorkload(name, context));
  }
  const Status prepared = workload->Prepare();
  if (!prepared.ok()) return prepared.error().Annotate(fmt::format("preparing {}", name));
  workloads_.push_back(std::move(workload));
  return Ok();
}

void ChaosRun::AddAddresses(WorkloadContext& context) {
  context.clients = options_.clients;
  context.zookeeper = target_->zookeeper();
  ProcessCluster* processes = target_->processes();
  for (const auto& name : target_->Names(Role::kMaster)) {
    if (processes != nullptr) context.masters.push_back(fmt::format("127.0.0.1:{}", processes->Info(name).port));
  }
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
  hooks.before = [this](FaultLine& line) {
    line.epoch_before = watch_->Epoch();
    for (const std::string& phase : watch_->PhasesNow()) line.met.push_back({line.kind, phase});
    if (ChangesClocks(line)) wrong_clocks_.push_back({{}, LogSizes(), {}});
  };
  const auto count = [this](Role role) { return static_cast<int>(target_->Names(role).size()); };
  const ClusterSize size{count(Role::kMaster), count(Role::kRegionServer), count(Role::kZooKeeper)};
  hooks.may_overlap = [size](const auto& others, const auto& unsettled, const std::string& kind) {
    return MayOverlap(size, others, unsettled, kind);
  };
  hooks.injected = [this](const FaultLine& line) {
    if (ChangesClocks(line)) {
      wrong_clocks_.back().victims = line.victims;
      if (line.healed_ms) wrong_clocks_.back().to = LogSizes();
    }
    if (line.error.empty())
      Note(line.kind, fmt::format("{}: {}", fmt::join(line.victims, ", "), line.evidence));
    else
      Note("no effect", fmt::format("{}: {}", line.kind, line.error));
  };
  hooks.healed = [this](const FaultLine& line) {
    if (ChangesClocks(line)) wrong_clocks_.back().to = LogSizes();
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
  for (const auto& death : target_->CollectDeaths()) {
    Note(death.expected ? "left" : "DIED", fmt::format("{} with exit code {}", death.name, death.exit_code));
    if (!death.expected) {
      record_.findings.push_back(
          {false, fmt::format("{} ended unexpectedly with exit code {}", death.name, death.exit_code)});
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
  // Ask all at once, so that a workload that waits for its last answers does not keep the others running.
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
