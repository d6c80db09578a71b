// The executor's members (executor.h): each opens a session, or hands the request to the part that does. On top of all
// parts, which is why it is a unit of its own: the parts below use the types of executor.h.
#include "procedure/executor.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "procedure/engine/abort.h"
#include "procedure/engine/operator_verbs.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/progress.h"
#include "procedure/engine/recovery.h"
#include "procedure/engine/report_handler.h"
#include "procedure/engine/results.h"
#include "procedure/engine/step_runner.h"
#include "procedure/engine/stuck_monitor.h"
#include "procedure/engine/submitter.h"
#include "procedure/session/awaited.h"
#include "procedure/session/session.h"
#include "procedure/session/waiting.h"
#include "procedure/views/activity_watch.h"
#include "procedure/views/views.h"

namespace ratchet::procedure {

struct Executor::Parts {
  Parts(Deps deps, Options options)
      : core(std::make_shared<Core>(deps, std::move(options), DrainReady)), runner(*core) {}

  std::shared_ptr<Core> core;
  StepRunner runner;
};

namespace {

// Calls `work` every `interval` until the executor stops.
void Every(const std::shared_ptr<Core>& core, Millis interval, void (*work)(Session&)) {
  if (interval.count() <= 0) return;
  core->deps.timers.After(interval, [weak = std::weak_ptr<Core>(core), interval, work] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    {
      Session session(*alive);
      if (session->stopping || session->halted) return;
      work(session);
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
    Session session(*parts_->core);
    RATCHET_CHECK(session->recovered && !session->started, "Start comes once, after Recover");
    session->started = true;
    for (std::size_t i = 0; i < session->scheduler.size(); ++i) session.NotifyWorkers(false);
  }
  parts_->core->deps.workers.Start(parts_->runner);
  Every(parts_->core, parts_->core->options.evict_interval, EvictResults);
  Every(parts_->core, parts_->core->options.stuck_check_interval, CheckStuckWorkers);
}

void Executor::Stop() {
  bool was_started = false;
  {
    Session session(*parts_->core);
    if (session->stopping) return;
    session->stopping = true;
    AnswerBarriers(session);
    AnswerWatches(session);
    was_started = session->started;
  }
  if (was_started) parts_->core->deps.workers.Stop();
  Session session(*parts_->core);
  // A store that has died may never complete what it was given: then nothing is completed from here on.
  session.WaitUntil([&session, this] {
    if (session->commits_in_flight > 0 && !parts_->core->deps.store.Check().ok()) session->halted = true;
    return (session->halted || session->commits_in_flight == 0) && session.CallsAreOver();
  });
  session->tree.ForEach([](ProcNode& node) {
    if (node.once != nullptr) node.once->Forget();
  });
}

namespace {

bool Halted(Core& core) {
  Session session(core);
  return session->halted;
}

}  // namespace

Result<ProcId> Executor::Submit(ProcedurePtr root, SubmitOptions options) {
  if (Session::InCallOf(*parts_->core)) {
    return Error(Code::kFailedPrecondition,
                 "Submit waits for a commit that this callback may stand in the way of: SubmitAsync");
  }
  const auto answer = std::make_shared<Awaited<Result<ProcId>>>();
  SubmitAsync(std::move(root), std::move(options), [answer](Result<ProcId> pid) { answer->Set(std::move(pid)); });
  auto pid = answer->Wait([this] { return Halted(*parts_->core); });
  return pid ? *std::move(pid) : Error(Code::kFenced, "the procedure store has failed; the outcome is unknown");
}

Result<ProcedureResult> Executor::Await(ProcId pid) {
  if (Session::InCallOf(*parts_->core))
    return Error(Code::kFailedPrecondition, "Await waits for what this callback may stand in the way of: OnFinished");
  const auto answer = std::make_shared<Awaited<ProcedureResult>>();
  OnFinished(pid, [answer](ProcedureResult result) { answer->Set(std::move(result)); });
  auto result = answer->Wait([this] {
    Session session(*parts_->core);
    return session->halted || session->stopping;
  });
  if (result) return *std::move(result);
  return Error(Code::kFenced,
               "the executor has stopped or its store has failed; the procedure goes on under the next one");
}

void Executor::SubmitAsync(ProcedurePtr root, SubmitOptions options, std::function<void(Result<ProcId>)> done) {
  procedure::SubmitAsync(*parts_->core, std::move(root), std::move(options), std::move(done));
}

std::optional<ProcId> Executor::FindNonce(Nonce nonce) const {
  Session session(*parts_->core);
  return session->nonces.Find({nonce.group, nonce.nonce});
}

void Executor::Deliver(ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done) {
  procedure::Deliver(*parts_->core, pid, std::move(message), std::move(done));
}

void Executor::Wake(const EventKey& event) {
  Session session(*parts_->core);
  if (session->stopping || session->halted) return;
  std::vector<ProcId> woken;
  session->waits.Wake(event, woken);
  for (const ProcId pid : woken) {
    if (ProcNode* node = session->tree.Find(pid)) EndWait(session, *node, /*timed_out=*/false);
  }
}

bool Executor::Kick(ProcId pid) {
  Session session(*parts_->core);
  ProcNode* node = session->tree.Find(pid);
  return node != nullptr && !session->stopping && !session->halted && EndWait(session, *node, /*timed_out=*/false);
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
  Session session(*parts_->core);
  const ProcNode* node = session->tree.Find(pid);
  return node == nullptr ? ProcedureResult{} : ResultOf(*node);
}

void Executor::Ack(ProcId pid) {
  Session session(*parts_->core);
  Acknowledge(session, pid);
}

void Executor::OnFinished(ProcId pid, std::function<void(ProcedureResult)> done) {
  Session session(*parts_->core);
  ProcNode* node = session->tree.Find(pid);
  ProcedureResult result = node == nullptr ? ProcedureResult{} : ResultOf(*node);
  if (result.status == ProcedureResult::Status::kRunning) {
    node->finish_waiters.push_back(std::move(done));
    return;
  }
  session.Later([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

std::vector<ProcedureInfo> Executor::List() const {
  Session session(*parts_->core);
  std::vector<ProcedureInfo> all;
  for (const ProcNode* node : session->tree.Sorted()) all.push_back(InfoOf(session, *node));
  return all;
}

ProcedureCounts Executor::Count(std::uint32_t stuck_attempts) const {
  Session session(*parts_->core);
  ProcedureCounts counts;
  session->tree.ForEach([&](const ProcNode& node) {
    ++counts.all;
    if (IsTerminal(node.durable.state)) return;
    ++counts.unfinished;
    if (!node.durable.parked.empty() || node.attempt > stuck_attempts) ++counts.stuck;
  });
  return counts;
}

WorkersInfo Executor::Workers() const {
  Session session(*parts_->core);
  return LookAtWorkers(session);
}

std::vector<ProcedureInfo> Executor::Tree(ProcId pid) const {
  Session session(*parts_->core);
  std::vector<ProcedureInfo> members;
  const ProcNode* node = session->tree.Find(pid);
  if (node == nullptr) return members;
  for (const ProcNode* member : ProcedureTree::Subtree(*node->root)) members.push_back(InfoOf(session, *member));
  return members;
}

Result<std::uint32_t> Executor::AwaitedAttempt(ProcId pid) const {
  Session session(*parts_->core);
  return AwaitedAttemptOf(session, pid);
}

std::optional<ProcedureInfo> Executor::Get(ProcId pid) const {
  Session session(*parts_->core);
  const ProcNode* node = session->tree.Find(pid);
  if (node == nullptr) return std::nullopt;
  return InfoOf(session, *node);
}

std::vector<LockInfo> Executor::Locks() const {
  Session session(*parts_->core);
  return session->locks.List();
}

std::vector<LimitInfo> Executor::Limits() const {
  Session session(*parts_->core);
  return LimitsOf(session);
}

std::vector<PauseInfo> Executor::Pauses() const {
  Session session(*parts_->core);
  return session->pauses.active;
}

std::vector<PauseLogEntry> Executor::PauseLog() const {
  Session session(*parts_->core);
  return session->pauses.log;
}

WaitForGraph Executor::WaitFor() const {
  Session session(*parts_->core);
  return BuildWaitForGraph(session);
}

std::vector<StepHistoryEntry> Executor::History(ProcId pid) const {
  Session session(*parts_->core);
  const ProcNode* node = session->tree.Find(pid);
  return node == nullptr ? std::vector<StepHistoryEntry>{} : HistoryOf(*node);
}

std::vector<TypeMetrics> Executor::Metrics() const {
  Session session(*parts_->core);
  return session->metrics.List();
}

ActivityBatch Executor::Activities(std::uint64_t after, std::size_t limit) const {
  Session session(*parts_->core);
  return session->events.After(after, limit);
}

void Executor::WatchActivity(std::uint64_t after, std::size_t limit, Millis patience,
                             std::function<void(ActivityBatch)> done) {
  procedure::WatchActivity(*parts_->core, after, limit, patience, std::move(done));
}

Result<StepNo> Executor::FindStep(ProcId pid, std::string_view name_or_number) const {
  Session session(*parts_->core);
  const ProcNode* node = session->tree.Find(pid);
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
  Session session(*parts_->core);
  std::vector<ProcId> pids;
  session->tree.ForEach([&pids, type](const ProcNode& node) {
    if (node.id.type == type && !IsTerminal(node.durable.state)) pids.push_back(node.id.pid);
  });
  std::sort(pids.begin(), pids.end());
  return pids;
}

void Executor::ForEach(const std::function<void(const Procedure&, const ProcedureInfo&)>& visit) const {
  std::vector<std::pair<const Procedure*, ProcedureInfo>> live;
  {
    Session session(*parts_->core);
    RATCHET_CHECK(!session->started, "ForEach is for the time between Recover and Start");
    for (const ProcNode* node : session->tree.Sorted()) {
      if (node->procedure != nullptr && !IsTerminal(node->durable.state)) {
        live.emplace_back(node->procedure.get(), InfoOf(session, *node));
      }
    }
  }
  for (const auto& [procedure, info] : live) visit(*procedure, info);
}

std::map<std::string, std::string> Executor::SystemRecords() const {
  Session session(*parts_->core);
  return session->system_records;
}

std::optional<std::string> Executor::SystemRecord(const std::string& key) const {
  Session session(*parts_->core);
  const auto found = session->system_records.find(key);
  if (found == session->system_records.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Executor::LoadProblems() const {
  Session session(*parts_->core);
  return session->load_problems;
}

Epoch Executor::epoch() const {
  Session session(*parts_->core);
  return session->epoch;
}

ProcId Executor::LowestLivePid() const {
  Session session(*parts_->core);
  ProcId& lowest = session->lowest_live;
  while (lowest <= session->max_pid) {
    const ProcNode* node = session->tree.Find(lowest);
    if (node != nullptr && !IsTerminal(node->durable.state)) break;
    if (session->inserting.contains(lowest) && !RATCHET_MUTANT("procedure.floor_passes_inserts")) break;
    lowest = lowest.Next();
  }
  return lowest;
}

bool Executor::Idle() const {
  Session session(*parts_->core);
  return session->commits_in_flight == 0 && session->running.empty() && session->scheduler.size() == 0;
}

void Executor::AddListener(std::shared_ptr<ProcedureListener> listener) {
  parts_->core->listeners.push_back(std::move(listener));
}

}  // namespace ratchet::procedure
