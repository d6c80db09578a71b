#include "procedure/engine/pause.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/activity.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {
namespace {

PauseReport ReportOf(const HeldState& held, const PauseBarrier& barrier) {
  PauseReport report;
  report.running.assign(barrier.running.begin(), barrier.running.end());
  std::sort(report.running.begin(), report.running.end());
  held->tree.ForEach([&](const ProcNode& node) {
    const bool outside = node.next_kind() == NextActionKind::kAsync && node.async_results != nullptr &&
                         !node.async_results->Pending().empty();
    if (outside && node.phase == Phase::kWaiting && Covers(held, barrier.scope, node))
      report.outside.push_back(node.id.pid);
  });
  std::sort(report.outside.begin(), report.outside.end());
  return report;
}

void Answer(ExecutorLock& held, const std::shared_ptr<PauseBarrier>& barrier) {
  held.Later([barrier, report = ReportOf(held, *barrier)] { barrier->answer(report); });
}

// Answers when the steps in flight have ended, or when `patience` has passed.
void RaiseBarrier(ExecutorLock& held, const PauseChange& change) {
  auto barrier = std::make_shared<PauseBarrier>();
  barrier->scope = change.scope;
  barrier->answer = [done = change.done](PauseReport report) { done(std::move(report)); };
  held->tree.ForEach([&](const ProcNode& node) {
    if (node.in_step() && Covers(held, change.scope, node)) barrier->running.insert(node.id.pid);
  });
  if (barrier->running.empty() || change.patience <= Millis{0}) {
    Answer(held, barrier);
    return;
  }
  held->pauses.barriers.push_back(barrier);
  barrier->timer = held.core().deps.timers.After(change.patience, [weak = held.core().weak_from_this(), barrier] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    ExecutorLock inner(*alive);
    if (std::erase(inner->pauses.barriers, barrier) > 0) Answer(inner, barrier);
    inner.Finish();
  });
}

// Called when the pause is durable: removes the covered procedures that were about to run from the queues of the
// scheduler and of the locks.
void PutAside(ExecutorLock& held) {
  std::vector<ProcNode*> queued;
  held->tree.ForEach([&](ProcNode& node) {
    if (node.phase != Phase::kQueued && node.phase != Phase::kLockLine) return;
    if (PausedBy(held, node) != nullptr) queued.push_back(&node);
  });
  std::vector<ProcId> granted;
  for (ProcNode* node : queued) {
    held->scheduler.Remove(node->sched);
    CancelLocks(held, *node, granted);
    node->work = NodeWork::kIdle;
    node->held = true;
    ProcedureTree::SetPhase(*node, Phase::kWaiting);
  }
  ReadyGranted(held, granted);
}

void GoOn(ExecutorLock& held) {
  std::vector<ProcNode*> freed;
  held->tree.ForEach([&](ProcNode& node) {
    if (node.held && node.phase == Phase::kWaiting && PausedBy(held, node) == nullptr) freed.push_back(&node);
  });
  std::sort(freed.begin(), freed.end(), [](const ProcNode* a, const ProcNode* b) { return a->id.pid < b->id.pid; });
  for (ProcNode* node : freed) {
    node->held = false;
    if (node->root->tree.failing) {
      held.ReadyUndo(*node->root);
    } else if (node->phase == Phase::kWaiting) {
      if (node->next_kind() == NextActionKind::kRun) SetNextAction(*node, ToRunAgain{});  // one after the other, by pid
      held.Ready(*node);
    }
  }
}

Status CheckScope(const HeldState& held, const PauseChange& change, bool active) {
  const PauseScope& scope = change.scope;
  if (change.resume) {
    return active ? Ok() : Status(Error(Code::kNotFound, scope.ToString() + " is not paused"));
  }
  if (!active && held->pauses.active.size() >= kMostPauses) {
    return Error(Code::kFailedPrecondition,
                 fmt::format("{} pauses are active, the maximum: resume some of them first", kMostPauses));
  }
  if (scope.kind == PauseScope::Kind::kType && held.core().deps.registry.Find(scope.type) == nullptr) {
    return Error(Code::kInvalidArgument, fmt::format("there is no procedure type {}", scope.type));
  }
  if (scope.kind == PauseScope::Kind::kProcedure) {
    const ProcNode* node = held->tree.Find(scope.pid);
    if (node == nullptr || IsTerminal(node->durable.state)) {
      return Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", scope.pid));
    }
  }
  return Ok();
}

// The scope's own record; "everything" also clears the records that could not be read.
std::vector<std::string> KeysOf(const HeldState& held, const PauseScope& scope) {
  std::vector<std::string> keys{PauseRecordKey(scope)};
  if (scope.kind != PauseScope::Kind::kEverything) return keys;
  for (const auto& [key, value] : held->system_records) {
    if (key != keys.front() && key.starts_with(kPauseRecordPrefix) && !DecodePause(value).ok()) keys.push_back(key);
  }
  return keys;
}

// Adds a log entry to the batch of the change that it describes.
SystemPut LogPut(const HeldState& held, bool resume, const PauseInfo& change) {
  std::vector<PauseLogEntry> log = held->pauses.log;
  log.push_back({resume, change.scope.ToString(), change.who, change.why, change.at_ms});
  if (log.size() > kPauseLogLength) log.erase(log.begin());
  return {std::string(kPauseLogKey), EncodePauseLog(log)};
}

void ShowLog(ExecutorLock& held, const SystemPut& stored) {
  held->system_records[stored.key] = stored.value;
  auto log = DecodePauseLog(stored.value);
  if (log.ok()) held->pauses.log = std::move(*log);
}

void NextChange(ExecutorLock& held);

void Apply(ExecutorLock& held, const PauseChange& change, const PauseInfo& pause) {
  auto& active = held->pauses.active;
  RATCHET_LOG(kWarn, "Operator {} {} by {}: {}", change.resume ? "resume" : "pause", change.scope.ToString(),
              change.note.who, change.note.why);
  Emit(held, change.resume ? ActivityKind::kResumed : ActivityKind::kPaused,
       fmt::format("{} by {}: {}", change.scope.ToString(), change.note.who, change.note.why));
  if (change.resume) {
    for (const std::string& key : KeysOf(held, change.scope)) held->system_records.erase(key);
    std::erase_if(active, [&change](const PauseInfo& other) { return other.scope == change.scope; });
    GoOn(held);
    held.Later([done = change.done] { done(PauseReport{}); });
  } else {
    held->system_records[PauseRecordKey(change.scope)] = EncodePause(pause);
    active.push_back(pause);
    PutAside(held);
    RaiseBarrier(held, change);
  }
}

// Writes the record of the first change in the queue.
void NextChange(ExecutorLock& held) {
  PauseBoard& board = held->pauses;
  while (!board.writing && !board.line.empty()) {
    const PauseChange change = std::move(board.line.front());
    board.line.pop_front();
    const bool active = std::any_of(board.active.begin(), board.active.end(),
                                    [&change](const PauseInfo& pause) { return pause.scope == change.scope; });
    if (const Status sound = CheckScope(held, change, active); !sound.ok()) {
      held.Later([done = change.done, sound] { done(sound.error()); });
      continue;
    }
    if (active && !change.resume) {  // a repeated request only adds a barrier
      RaiseBarrier(held, change);
      continue;
    }
    const PauseInfo pause{change.scope, change.note.who, change.note.why, held.now_ms()};
    StoreBatch batch;
    if (change.resume) {
      batch.system_deletes = KeysOf(held, change.scope);
    } else {
      batch.system_puts.push_back({PauseRecordKey(change.scope), EncodePause(pause)});
    }
    const SystemPut log = LogPut(held, change.resume, pause);
    batch.system_puts.push_back(log);
    board.writing = true;
    held.Commit(std::move(batch), {}, [change, pause, log](ExecutorLock& inner) {
      inner->pauses.writing = false;
      ShowLog(inner, log);
      Apply(inner, change, pause);
      NextChange(inner);
    });
  }
}

}  // namespace

void ChangePause(Core& core, PauseChange change) {
  ExecutorLock held(core);
  if (!held->recovered || held->stopping || held->halted) {
    held.Later(
        [done = std::move(change.done)] { done(Error(Code::kUnavailable, "the executor does not accept requests")); });
  } else {
    held->pauses.line.push_back(std::move(change));
    NextChange(held);
  }
  held.Finish();
}

bool HoldIfPaused(ExecutorLock& held, ProcNode& node) {
  node.held = PausedBy(held, node) != nullptr;
  if (node.held) ProcedureTree::SetPhase(node, Phase::kWaiting);
  return node.held;
}

void PauseStepEnded(ExecutorLock& held, const ProcNode& node) {
  auto& barriers = held->pauses.barriers;
  for (std::size_t i = 0; i < barriers.size();) {
    const std::shared_ptr<PauseBarrier> barrier = barriers[i];
    barrier->running.erase(node.id.pid);
    if (!barrier->running.empty()) {
      ++i;
      continue;
    }
    barriers.erase(barriers.begin() + static_cast<std::ptrdiff_t>(i));
    held.core().deps.timers.Cancel(barrier->timer);
    Answer(held, barrier);
  }
}

void AnswerBarriers(ExecutorLock& held) {
  for (const auto& barrier : std::exchange(held->pauses.barriers, {})) {
    held.core().deps.timers.Cancel(barrier->timer);
    Answer(held, barrier);
  }
}

void LoadPauses(ExecutorLock& held) {
  if (const auto found = held->system_records.find(std::string(kPauseLogKey)); found != held->system_records.end()) {
    Result<std::vector<PauseLogEntry>> log = DecodePauseLog(found->second);
    if (!log.ok()) held->load_problems.push_back("the record of pauses is lost: " + log.error().ToString());
    if (log.ok()) held->pauses.log = *std::move(log);
  }
  for (const auto& [key, value] : held->system_records) {
    if (!key.starts_with(kPauseRecordPrefix)) continue;
    Result<PauseInfo> pause = DecodePause(value);
    if (!pause.ok()) {
      // The scope is unknown: the safe reading is the widest.
      pause = PauseInfo{PauseScope::Everything(), "the loader", fmt::format("system record {} is unreadable", key), 0};
      held->load_problems.push_back(pause->why + "; everything is paused");
    }
    RATCHET_LOG(kWarn, "{}", pause->ToString());
    held->pauses.active.push_back(*std::move(pause));
  }
  if (!held.options().start_paused) return;
  const OperatorNote& note = *held.options().start_paused;
  PauseChange change{false, PauseScope::Everything(), note, Millis{0}, [](const Result<PauseReport>&) {}};
  // The pause applies at once. Its record follows, so that a later master honours it too.
  const PauseInfo pause{change.scope, note.who, note.why, held.now_ms()};
  const bool already = std::any_of(held->pauses.active.begin(), held->pauses.active.end(),
                                   [&pause](const PauseInfo& other) { return other.scope == pause.scope; });
  if (already) return;
  held->pauses.active.push_back(pause);
  const std::string key = PauseRecordKey(pause.scope);
  held->system_records[key] = EncodePause(pause);
  StoreBatch batch;
  const SystemPut log = LogPut(held, /*resume=*/false, pause);
  batch.system_puts = {{key, EncodePause(pause)}, log};
  held->pauses.writing = true;
  held.Commit(std::move(batch), {}, [log](ExecutorLock& inner) {
    inner->pauses.writing = false;
    ShowLog(inner, log);
    NextChange(inner);
  });
}

void ForgetEndedPauses(ExecutorLock& held) {
  for (const PauseInfo& pause : held->pauses.active) {
    if (pause.scope.kind != PauseScope::Kind::kProcedure) continue;
    const ProcNode* node = held->tree.Find(pause.scope.pid);
    // A child that has ended may still be undone, so the pause also applies to that undo.
    if (node != nullptr && !IsTerminal(node->root->durable.state)) continue;
    held->pauses.line.push_back(
        {true, pause.scope, {"the executor", "it has ended"}, Millis{0}, [](const Result<PauseReport>&) {}});
  }
  NextChange(held);
}

}  // namespace ratchet::procedure
