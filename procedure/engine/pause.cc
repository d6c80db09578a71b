#include "procedure/engine/pause.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "procedure/record/identity.h"
#include "procedure/session/places.h"
#include "procedure/views/activity.h"

namespace ratchet::procedure {
namespace {

PauseReport ReportOf(Session& session, const PauseBarrier& barrier) {
  PauseReport report;
  report.running.assign(barrier.running.begin(), barrier.running.end());
  std::sort(report.running.begin(), report.running.end());
  session->tree.ForEach([&](const ProcNode& node) {
    const bool outside = node.want() == Want::kOnce && node.once != nullptr && !node.once->Pending().empty();
    if (outside && node.phase == Phase::kWaiting && Covers(session, barrier.scope, node))
      report.outside.push_back(node.id.pid);
  });
  std::sort(report.outside.begin(), report.outside.end());
  return report;
}

void Answer(Session& session, const std::shared_ptr<PauseBarrier>& barrier) {
  session.Later([barrier, report = ReportOf(session, *barrier)] { barrier->answer(report); });
}

// Answers when the steps in flight have ended, or `patience` has.
void RaiseBarrier(Session& session, const PauseChange& change) {
  auto barrier = std::make_shared<PauseBarrier>();
  barrier->scope = change.scope;
  barrier->answer = [done = change.done](PauseReport report) { done(std::move(report)); };
  session->tree.ForEach([&](const ProcNode& node) {
    if (node.in_step && Covers(session, change.scope, node)) barrier->running.insert(node.id.pid);
  });
  if (barrier->running.empty() || change.patience <= Millis{0}) {
    Answer(session, barrier);
    return;
  }
  session->pauses.barriers.push_back(barrier);
  barrier->timer = session.core().deps.timers.After(change.patience, [weak = session.core().weak_from_this(), barrier] {
    const std::shared_ptr<Core> alive = weak.lock();
    if (alive == nullptr) return;
    Session inner(*alive);
    if (std::erase(inner->pauses.barriers, barrier) > 0) Answer(inner, barrier);
  });
}

// The pause is on record: out of the queue and out of line with what was about to run.
void PutAside(Session& session) {
  std::vector<ProcNode*> queued;
  session->tree.ForEach([&](ProcNode& node) {
    if (node.phase != Phase::kQueued && node.phase != Phase::kLockLine) return;
    if (PausedBy(session, node) != nullptr) queued.push_back(&node);
  });
  std::vector<ProcId> granted;
  for (ProcNode* node : queued) {
    session->scheduler.Remove(node->sched);
    session->locks.Cancel(node->locks, granted);
    node->undoing = false;
    node->held = true;
    ProcedureTree::SetPhase(*node, Phase::kWaiting);
  }
  ReadyGranted(session, granted);
}

void GoOn(Session& session) {
  std::vector<ProcNode*> held;
  session->tree.ForEach([&](ProcNode& node) {
    if (node.held && node.phase == Phase::kWaiting && PausedBy(session, node) == nullptr) held.push_back(&node);
  });
  std::sort(held.begin(), held.end(), [](const ProcNode* a, const ProcNode* b) { return a->id.pid < b->id.pid; });
  for (ProcNode* node : held) {
    node->held = false;
    if (node->root->tree.failing) {
      session.ReadyUndo(*node->root);
    } else if (node->phase == Phase::kWaiting) {
      if (node->want() == Want::kRun) SetIntent(*node, ToRunAgain{});  // behind each other, in the order of their pids
      session.Ready(*node);
    }
  }
}

Status CheckScope(Session& session, const PauseChange& change, bool active) {
  const PauseScope& scope = change.scope;
  if (change.resume) {
    return active ? Ok() : Status(Error(Code::kNotFound, scope.ToString() + " is not paused"));
  }
  if (!active && session->pauses.active.size() >= kMostPauses) {
    return Error(Code::kFailedPrecondition,
                 fmt::format("{} pauses are in force: resume some of them first", kMostPauses));
  }
  if (scope.kind == PauseScope::Kind::kType && session.core().deps.registry.Find(scope.type) == nullptr) {
    return Error(Code::kInvalidArgument, fmt::format("there is no procedure type {}", scope.type));
  }
  if (scope.kind == PauseScope::Kind::kProcedure) {
    const ProcNode* node = session->tree.Find(scope.pid);
    if (node == nullptr || IsTerminal(node->durable.state)) {
      return Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", scope.pid));
    }
  }
  return Ok();
}

// Its own record; "everything" also stands for the records that could not be read.
std::vector<std::string> KeysOf(Session& session, const PauseScope& scope) {
  std::vector<std::string> keys{PauseRecordKey(scope)};
  if (scope.kind != PauseScope::Kind::kEverything) return keys;
  for (const auto& [key, value] : session->system_records) {
    if (key != keys.front() && key.starts_with(kPauseRecordPrefix) && !DecodePause(value).ok()) keys.push_back(key);
  }
  return keys;
}

// Goes into the batch of the change that it tells of.
SystemPut LogPut(Session& session, bool resume, const PauseInfo& change) {
  std::vector<PauseLogEntry> log = session->pauses.log;
  log.push_back({resume, change.scope.ToString(), change.who, change.why, change.at_ms});
  if (log.size() > kPauseLogLength) log.erase(log.begin());
  return {std::string(kPauseLogKey), EncodePauseLog(log)};
}

void ShowLog(Session& session, const SystemPut& stored) {
  session->system_records[stored.key] = stored.value;
  auto log = DecodePauseLog(stored.value);
  if (log.ok()) session->pauses.log = std::move(*log);
}

void NextChange(Session& session);

void Apply(Session& session, const PauseChange& change, const PauseInfo& pause) {
  auto& active = session->pauses.active;
  RATCHET_LOG(kWarn, "Operator {} {} by {}: {}", change.resume ? "resume" : "pause", change.scope.ToString(),
              change.note.who, change.note.why);
  Emit(session, change.resume ? ActivityKind::kResumed : ActivityKind::kPaused,
       fmt::format("{} by {}: {}", change.scope.ToString(), change.note.who, change.note.why));
  if (change.resume) {
    for (const std::string& key : KeysOf(session, change.scope)) session->system_records.erase(key);
    std::erase_if(active, [&change](const PauseInfo& other) { return other.scope == change.scope; });
    GoOn(session);
    session.Later([done = change.done] { done(PauseReport{}); });
  } else {
    session->system_records[PauseRecordKey(change.scope)] = EncodePause(pause);
    active.push_back(pause);
    PutAside(session);
    RaiseBarrier(session, change);
  }
}

// Writes the record of the first in line.
void NextChange(Session& session) {
  PauseBoard& board = session->pauses;
  while (!board.writing && !board.line.empty()) {
    const PauseChange change = std::move(board.line.front());
    board.line.pop_front();
    const bool active = std::any_of(board.active.begin(), board.active.end(),
                                    [&change](const PauseInfo& pause) { return pause.scope == change.scope; });
    if (const Status sound = CheckScope(session, change, active); !sound.ok()) {
      session.Later([done = change.done, sound] { done(sound.error()); });
      continue;
    }
    if (active && !change.resume) {  // asked for again: only the barrier is new
      RaiseBarrier(session, change);
      continue;
    }
    const PauseInfo pause{change.scope, change.note.who, change.note.why, session.now_ms()};
    StoreBatch batch;
    if (change.resume) {
      batch.system_deletes = KeysOf(session, change.scope);
    } else {
      batch.system_puts.push_back({PauseRecordKey(change.scope), EncodePause(pause)});
    }
    const SystemPut log = LogPut(session, change.resume, pause);
    batch.system_puts.push_back(log);
    board.writing = true;
    session.Commit(std::move(batch), {}, [change, pause, log](Session& inner) {
      inner->pauses.writing = false;
      ShowLog(inner, log);
      Apply(inner, change, pause);
      NextChange(inner);
    });
  }
}

}  // namespace

void ChangePause(Core& core, PauseChange change) {
  Session session(core);
  if (!session->recovered || session->stopping || session->halted) {
    session.Later(
        [done = std::move(change.done)] { done(Error(Code::kUnavailable, "the executor does not take requests")); });
    return;
  }
  session->pauses.line.push_back(std::move(change));
  NextChange(session);
}

bool HoldIfPaused(Session& session, ProcNode& node) {
  node.held = PausedBy(session, node) != nullptr;
  if (node.held) ProcedureTree::SetPhase(node, Phase::kWaiting);
  return node.held;
}

void PauseStepEnded(Session& session, const ProcNode& node) {
  auto& barriers = session->pauses.barriers;
  for (std::size_t i = 0; i < barriers.size();) {
    const std::shared_ptr<PauseBarrier> barrier = barriers[i];
    barrier->running.erase(node.id.pid);
    if (!barrier->running.empty()) {
      ++i;
      continue;
    }
    barriers.erase(barriers.begin() + static_cast<std::ptrdiff_t>(i));
    session.core().deps.timers.Cancel(barrier->timer);
    Answer(session, barrier);
  }
}

void AnswerBarriers(Session& session) {
  for (const auto& barrier : std::exchange(session->pauses.barriers, {})) {
    session.core().deps.timers.Cancel(barrier->timer);
    Answer(session, barrier);
  }
}

void LoadPauses(Session& session) {
  if (const auto found = session->system_records.find(std::string(kPauseLogKey));
      found != session->system_records.end()) {
    Result<std::vector<PauseLogEntry>> log = DecodePauseLog(found->second);
    if (!log.ok()) session->load_problems.push_back("the record of pauses is lost: " + log.error().ToString());
    if (log.ok()) session->pauses.log = *std::move(log);
  }
  for (const auto& [key, value] : session->system_records) {
    if (!key.starts_with(kPauseRecordPrefix)) continue;
    Result<PauseInfo> pause = DecodePause(value);
    if (!pause.ok()) {
      // What it covers is unknown: the safe reading is the widest.
      pause = PauseInfo{PauseScope::Everything(), "the loader", fmt::format("system record {} is unreadable", key), 0};
      session->load_problems.push_back(pause->why + "; everything is paused");
    }
    RATCHET_LOG(kWarn, "{}", pause->ToString());
    session->pauses.active.push_back(*std::move(pause));
  }
  if (!session.options().start_paused) return;
  const OperatorNote& note = *session.options().start_paused;
  PauseChange change{false, PauseScope::Everything(), note, Millis{0}, [](const Result<PauseReport>&) {}};
  // In force at once; its record follows, so that a later master keeps to it.
  const PauseInfo pause{change.scope, note.who, note.why, session.now_ms()};
  const bool already = std::any_of(session->pauses.active.begin(), session->pauses.active.end(),
                                   [&pause](const PauseInfo& other) { return other.scope == pause.scope; });
  if (already) return;
  session->pauses.active.push_back(pause);
  const std::string key = PauseRecordKey(pause.scope);
  session->system_records[key] = EncodePause(pause);
  StoreBatch batch;
  const SystemPut log = LogPut(session, /*resume=*/false, pause);
  batch.system_puts = {{key, EncodePause(pause)}, log};
  session->pauses.writing = true;
  session.Commit(std::move(batch), {}, [log](Session& inner) {
    inner->pauses.writing = false;
    ShowLog(inner, log);
    NextChange(inner);
  });
}

void ForgetEndedPauses(Session& session) {
  for (const PauseInfo& pause : session->pauses.active) {
    if (pause.scope.kind != PauseScope::Kind::kProcedure) continue;
    const ProcNode* node = session->tree.Find(pause.scope.pid);
    // A child that has ended may still be undone, which stands as well.
    if (node != nullptr && !IsTerminal(node->root->durable.state)) continue;
    session->pauses.line.push_back(
        {true, pause.scope, {"the executor", "it has ended"}, Millis{0}, [](const Result<PauseReport>&) {}});
  }
  NextChange(session);
}

}  // namespace ratchet::procedure
