// The executor's members (api/executor.h): each takes the executor's lock, or hands the request to the part that
// implements it.
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure_listener.h"
#include "procedure/engine/activity.h"
#include "procedure/engine/advance.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/executor_lock.h"
#include "procedure/engine/observe.h"
#include "procedure/engine/operator_verbs.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/recovery.h"
#include "procedure/engine/report_handler.h"
#include "procedure/engine/run_on.h"
#include "procedure/engine/step_runner.h"
#include "procedure/engine/submit.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {

// A value that one thread waits for and another one provides. Shared by both sides, so that neither side destroys it
// while the other still uses it.
template <class T>
class Awaited {
 public:
  void Set(T value) {
    const MutexLock lock(mutex_);
    value_ = std::move(value);
    changed_.NotifyAll();
  }
  // nullopt: `halted` returned true, so no value will come.
  template <class IsHalted>
  std::optional<T> Wait(IsHalted halted) {
    while (true) {
      const bool over = halted();  // read before the value, so a value that came first is not missed
      const MutexLock lock(mutex_);
      if (value_ || over) return std::move(value_);
      changed_.WaitFor(mutex_, std::chrono::milliseconds(100));
      if (value_) return std::move(value_);
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<T> value_ GUARDED_BY(mutex_);
};

struct Executor::Parts {
  Parts(Deps deps, Options options)
      : core(std::make_shared<Core>(deps, std::move(options), DrainReady)), runner(*core) {}

  std::shared_ptr<Core> core;
  StepRunner runner;
};

namespace {

// Calls `work` every `interval` until the executor stops.
void Every(const std::shared_ptr<Core>& core, Millis interval, void (*work)(ExecutorLock&)) {
  if (interval.count() <= 0) return;
  core->deps.timers.After(interval, [weak = std::weak_ptr<Core>(core), interval, work] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    {
      ExecutorLock held(*alive);
      const bool over = held->stopping || held->halted;
      if (!over) work(held);
      held.Finish();
      if (over) return;
    }
    Every(alive, interval, work);
  });
}

}  // namespace

Executor::Executor(Deps deps, Options options) : parts_(std::make_unique<Parts>(deps, std::move(options))) {}

Executor::~Executor() { Stop(); }

Result<Epoch> Executor::Recover() { return RecoverAll(*parts_->core); }

void Executor::Start() {
  {
    ExecutorLock held(*parts_->core);
    RATCHET_CHECK(held->recovered && !held->started, "Start must be called once, after Recover");
    held->started = true;
    for (std::size_t i = 0; i < held->scheduler.size(); ++i) held.NotifyWorkers(false);
    held.Finish();
  }
  parts_->core->deps.workers.Start(parts_->runner);
  Every(parts_->core, parts_->core->options.evict_interval, EvictResults);
  Every(parts_->core, parts_->core->options.stuck_check_interval, CheckStuckWorkers);
}

void Executor::Stop() {
  bool was_started = false;
  {
    ExecutorLock held(*parts_->core);
    const bool stopped_before = std::exchange(held->stopping, true);
    if (!stopped_before) {
      AnswerBarriers(held);
      AnswerWatches(held);
      was_started = held->started;
    }
    held.Finish();
    if (stopped_before) return;
  }
  if (was_started) parts_->core->deps.workers.Stop();
  {
    ExecutorLock held(*parts_->core);
    CommitWaiting(held);
    held.Finish();
  }
  ExecutorLock held(*parts_->core);
  // A store that has failed may never complete a commit: then nothing is completed from here on.
  held.WaitUntil([&held, this] {
    if (held->commits_in_flight > 0 && !parts_->core->deps.store.Check().ok()) held->halted = true;
    return (held->halted || held->commits_in_flight == 0) && held.CallsAreOver();
  });
  held->tree.ForEach([](ProcNode& node) {
    if (node.async_results != nullptr) node.async_results->Forget();
  });
  held.Finish();
}

namespace {

bool Halted(Core& core) {
  const ExecutorReadLock held(core);
  return held->halted;
}

}  // namespace

Result<ProcId> Executor::Submit(ProcedurePtr root, SubmitOptions options) {
  if (ExecutorLock::InCallOf(*parts_->core)) {
    return Error(Code::kFailedPrecondition,
                 "Submit would deadlock inside a callback that its commit may wait for; use SubmitAsync");
  }
  const auto answer = std::make_shared<Awaited<Result<ProcId>>>();
  SubmitAsync(std::move(root), std::move(options), [answer](Result<ProcId> pid) { answer->Set(std::move(pid)); });
  auto pid = answer->Wait([this] { return Halted(*parts_->core); });
  return pid ? *std::move(pid) : Error(Code::kFenced, "the procedure store has failed; the outcome is unknown");
}

Result<ProcedureResult> Executor::Await(ProcId pid) {
  if (ExecutorLock::InCallOf(*parts_->core))
    return Error(Code::kFailedPrecondition,
                 "Await would deadlock inside a callback that the procedure may wait for; use OnFinished");
  const auto answer = std::make_shared<Awaited<ProcedureResult>>();
  OnFinished(pid, [answer](ProcedureResult result) { answer->Set(std::move(result)); });
  auto result = answer->Wait([this] {
    const ExecutorReadLock held(*parts_->core);
    return held->halted || held->stopping;
  });
  if (result) return *std::move(result);
  return Error(Code::kFenced,
               "the executor has stopped or its store has failed; the procedure resumes under the next executor");
}

void Executor::SubmitAsync(ProcedurePtr root, SubmitOptions options, std::function<void(Result<ProcId>)> done) {
  procedure::SubmitAsync(*parts_->core, std::move(root), std::move(options), std::move(done));
}

std::optional<ProcId> Executor::FindNonce(Nonce nonce) const {
  const ExecutorReadLock held(*parts_->core);
  return held->nonces.Find({nonce.group, nonce.nonce});
}

void Executor::Deliver(ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done) {
  procedure::Deliver(*parts_->core, pid, std::move(message), std::move(done));
}

void Executor::Wake(const EventKey& event) {
  ExecutorLock held(*parts_->core);
  std::vector<ProcId> woken;
  if (!held->stopping && !held->halted) held->waits.Wake(event, woken);
  for (const ProcId pid : woken) {
    if (ProcNode* node = held->tree.Find(pid)) EndWait(held, *node, /*timed_out=*/false);
  }
  held.Finish();
}

bool Executor::Kick(ProcId pid) {
  ExecutorLock held(*parts_->core);
  ProcNode* node = held->tree.Find(pid);
  const bool waited = node != nullptr && !held->stopping && !held->halted && EndWait(held, *node, /*timed_out=*/false);
  held.Finish();
  return waited;
}

void Executor::Abort(ProcId pid, OperatorNote note, std::function<void(Status)> done) {
  AbortTree(*parts_->core, pid, std::move(note), std::move(done));
}

void Executor::Bypass(ProcId pid, bool recursive, OperatorNote note, std::function<void(Status)> done) {
  BypassProcedure(*parts_->core, pid, recursive, std::move(note), std::move(done));
}

void Executor::Park(ProcId pid, OperatorNote note, std::function<void(Status)> done) {
  ParkProcedure(*parts_->core, pid, std::move(note), std::move(done));
}

void Executor::Unpark(ProcId pid, OperatorNote note, std::function<void(Status)> done) {
  UnparkProcedure(*parts_->core, pid, std::move(note), std::move(done));
}

void Executor::Rerun(ProcId pid, StepNo step, OperatorNote note, std::function<void(Status)> done) {
  RerunProcedure(*parts_->core, pid, step, std::move(note), std::move(done));
}

void Executor::Pause(PauseScope scope, OperatorNote note, Millis patience,
                     std::function<void(Result<PauseReport>)> done) {
  ChangePause(*parts_->core, {false, std::move(scope), std::move(note), patience, std::move(done)});
}

void Executor::Resume(PauseScope scope, OperatorNote note, std::function<void(Status)> done) {
  ChangePause(*parts_->core, {true, std::move(scope), std::move(note), Millis{0},
                              [done = std::move(done)](const Result<PauseReport>& report) {
                                done(report.ok() ? Ok() : Status(report.error()));
                              }});
}

ProcedureResult Executor::GetResult(ProcId pid) const {
  const ExecutorReadLock held(*parts_->core);
  const ProcNode* node = held->tree.Find(pid);
  return node == nullptr ? ProcedureResult{} : ResultOf(*node);
}

void Executor::Ack(ProcId pid) {
  ExecutorLock held(*parts_->core);
  Acknowledge(held, pid);
  held.Finish();
}

void Executor::OnFinished(ProcId pid, std::function<void(ProcedureResult)> done) {
  ExecutorLock held(*parts_->core);
  ProcNode* node = held->tree.Find(pid);
  ProcedureResult result = node == nullptr ? ProcedureResult{} : ResultOf(*node);
  if (result.status == ProcedureResult::Status::kRunning) {
    node->finish_waiters.push_back(std::move(done));
  } else {
    held.Later([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
  }
  held.Finish();
}

std::vector<ProcedureInfo> Executor::List() const {
  const ExecutorReadLock held(*parts_->core);
  std::vector<ProcedureInfo> all;
  for (const ProcNode* node : held->tree.Sorted()) all.push_back(InfoOf(held, *node));
  return all;
}

ProcedureCounts Executor::Count(std::uint32_t stuck_attempts) const {
  const ExecutorReadLock held(*parts_->core);
  ProcedureCounts counts;
  held->tree.ForEach([&](const ProcNode& node) {
    ++counts.all;
    if (IsTerminal(node.durable.state)) return;
    ++counts.unfinished;
    if (!node.durable.parked.empty() || node.attempt > stuck_attempts) ++counts.stuck;
  });
  return counts;
}

WorkersInfo Executor::Workers() const {
  const ExecutorReadLock held(*parts_->core);
  return LookAtWorkers(held);
}

std::vector<ProcedureInfo> Executor::Tree(ProcId pid) const {
  const ExecutorReadLock held(*parts_->core);
  std::vector<ProcedureInfo> members;
  const ProcNode* node = held->tree.Find(pid);
  if (node == nullptr) return members;
  for (const ProcNode* member : ProcedureTree::Subtree(*node->root)) members.push_back(InfoOf(held, *member));
  return members;
}

Result<std::uint32_t> Executor::AwaitedAttempt(ProcId pid) const {
  const ExecutorReadLock held(*parts_->core);
  return AwaitedAttemptOf(held, pid);
}

std::optional<ProcedureInfo> Executor::Get(ProcId pid) const {
  const ExecutorReadLock held(*parts_->core);
  const ProcNode* node = held->tree.Find(pid);
  if (node == nullptr) return std::nullopt;
  return InfoOf(held, *node);
}

std::vector<LockInfo> Executor::Locks() const {
  const ExecutorReadLock held(*parts_->core);
  return held->locks.List();
}

std::vector<LimitInfo> Executor::Limits() const {
  const ExecutorReadLock held(*parts_->core);
  return LimitsOf(held);
}

std::vector<PauseInfo> Executor::Pauses() const {
  const ExecutorReadLock held(*parts_->core);
  return held->pauses.active;
}

std::vector<PauseLogEntry> Executor::PauseLog() const {
  const ExecutorReadLock held(*parts_->core);
  return held->pauses.log;
}

WaitForGraph Executor::WaitFor() const {
  const ExecutorReadLock held(*parts_->core);
  return BuildWaitForGraph(held);
}

std::vector<StepHistoryEntry> Executor::History(ProcId pid) const {
  const ExecutorReadLock held(*parts_->core);
  const ProcNode* node = held->tree.Find(pid);
  return node == nullptr ? std::vector<StepHistoryEntry>{} : HistoryOf(*node);
}

std::vector<TypeMetrics> Executor::Metrics() const {
  const ExecutorReadLock held(*parts_->core);
  return held->metrics.List();
}

std::optional<std::chrono::nanoseconds> Executor::LongestHold() const {
  const HoldMeter& meter = parts_->core->meter();
  if (!meter.on()) return std::nullopt;
  return meter.longest();
}

ActivityBatch Executor::Activities(std::uint64_t after, std::size_t limit) const {
  const ExecutorReadLock held(*parts_->core);
  return held->events.After(after, limit);
}

void Executor::WatchActivity(std::uint64_t after, std::size_t limit, Millis patience,
                             std::function<void(ActivityBatch)> done) {
  procedure::WatchActivity(*parts_->core, after, limit, patience, std::move(done));
}

Result<StepNo> Executor::FindStep(ProcId pid, std::string_view name_or_number) const {
  const ExecutorReadLock held(*parts_->core);
  const ProcNode* node = held->tree.Find(pid);
  if (node == nullptr) return Error(Code::kNotFound, fmt::format("no procedure has pid {}", pid));
  if (node->procedure == nullptr) return Error(Code::kFailedPrecondition, node->durable.parked);
  std::string names;
  for (const StepRow& row : node->procedure->rows()) {
    if (row.name == name_or_number || std::to_string(row.number) == name_or_number) return row.number;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  }
  return Error(Code::kInvalidArgument,
               fmt::format("{} has no state '{}', only {}", node->id.type, name_or_number, names));
}

std::vector<ProcId> Executor::FindUnfinished(std::string_view type) const {
  const ExecutorReadLock held(*parts_->core);
  std::vector<ProcId> pids;
  held->tree.ForEach([&pids, type](const ProcNode& node) {
    if (node.id.type == type && !IsTerminal(node.durable.state)) pids.push_back(node.id.pid);
  });
  std::sort(pids.begin(), pids.end());
  return pids;
}

void Executor::ForEach(const std::function<void(const Procedure&, const ProcedureInfo&)>& visit) const {
  std::vector<std::pair<const Procedure*, ProcedureInfo>> live;
  {
    const ExecutorReadLock held(*parts_->core);
    RATCHET_CHECK(!held->started, "ForEach may be called only between Recover and Start");
    for (const ProcNode* node : held->tree.Sorted()) {
      if (node->procedure != nullptr && !IsTerminal(node->durable.state)) {
        live.emplace_back(node->procedure.get(), InfoOf(held, *node));
      }
    }
  }
  for (const auto& [procedure, info] : live) visit(*procedure, info);
}

std::map<std::string, std::string> Executor::SystemRecords() const {
  const ExecutorReadLock held(*parts_->core);
  return held->system_records;
}

std::optional<std::string> Executor::SystemRecord(const std::string& key) const {
  const ExecutorReadLock held(*parts_->core);
  const auto found = held->system_records.find(key);
  if (found == held->system_records.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Executor::LoadProblems() const {
  const ExecutorReadLock held(*parts_->core);
  return held->load_problems;
}

Epoch Executor::epoch() const {
  const ExecutorReadLock held(*parts_->core);
  return held->epoch;
}

ProcId Executor::LowestLivePid() const {
  ExecutorLock held(*parts_->core);
  const ProcId lowest = LowestLive(held);
  held.Finish();
  return lowest;
}

ProcId Executor::LargestPid() const {
  const ExecutorReadLock held(*parts_->core);
  return held->max_pid;
}

bool Executor::Idle() const {
  const ExecutorReadLock held(*parts_->core);
  return held->commits_in_flight == 0 && held->running.empty() && held->resumed.empty() &&
         held->resumed_urgent.empty() && held->run_on.empty() && held->scheduler.size() == 0;
}

void Executor::AddListener(std::shared_ptr<ProcedureListener> listener) {
  ExecutorLock held(*parts_->core);
  held->listeners.push_back(std::make_shared<RegisteredListener>(std::move(listener)));
  held.Finish();
}

void Executor::RemoveListener(const std::shared_ptr<ProcedureListener>& listener) {
  ExecutorLock held(*parts_->core);
  std::erase_if(held->listeners, [&listener](const auto& each) {
    if (each->listener == listener) each->removed.store(true);
    return each->listener == listener;
  });
  held.Finish();
}

}  // namespace ratchet::procedure
