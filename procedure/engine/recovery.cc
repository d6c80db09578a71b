#include "procedure/engine/recovery.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "procedure/api/offline_store.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/observe.h"
#include "procedure/engine/operator_verbs.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/rollback.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {

namespace {

void Problem(ExecutorLock& held, std::string text) {
  RATCHET_LOG(kError, "loading procedures: {}", text);
  held->load_problems.push_back(std::move(text));
}

// Parks in memory only: the record stays as it is, for a version that understands it.
void ParkAtLoad(ExecutorLock& held, ProcNode& node, const std::string& why) {
  Park(node.durable, why);
  SetNextAction(node, ForOperator{});
  Problem(held, fmt::format("pid={} {} is parked: {}", node.id.pid, node.id.type, why));
}

// The parent record is lost, and with it whether the tree may still be undone: nothing at or below `node` runs or is
// undone before an operator acts.
void MarkTreeUnknown(ProcNode& node) {
  node.orphaned = true;
  if (node.parent != nullptr) return;  // its root's record is known
  node.missing_children = true;
  ++node.tree.incomplete;
}

void StandStill(ExecutorLock& held, ProcNode& node) {
  if (node.parent == nullptr || !node.parent->orphaned || RATCHET_MUTANT("procedure.orphans_go_on")) return;
  node.orphaned = true;
  if (IsTerminal(node.durable.state) || !node.durable.parked.empty()) return;
  ParkAtLoad(held, node, fmt::format("stopped: its ancestor pid={} is an orphan", node.parent->id.pid));
}

// Returns why the record disagrees with its store key; empty if it agrees.
std::string Contradiction(const ProcedureUpsert& stored, const DecodedRecord& decoded) {
  if (decoded.identity.pid != stored.pid) return "the record names another pid";
  if (decoded.durable.version != stored.version && !RATCHET_MUTANT("procedure.trust_records")) {
    return fmt::format("the record has version {}, but the store has version {}", decoded.durable.version,
                       stored.version);
  }
  return {};
}

// S83 (no undo without locks): a step that is undone when it may have acted keeps its locks (S16: parent keeps child
// locks), and these locks were durable before it ran (S14: durable lock grants). Without them it has not begun: an undo
// would act on what others hold. In all other cases the record does not show whether it has begun.
bool MayHaveBegun(const ProcNode& node) {
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(node.durable.step);
  if (row == nullptr || row->undo != UndoKind::kCall || RATCHET_MUTANT("procedure.undo_without_locks")) return true;
  return node.procedure->Locks().Expanded() == node.durable.locks;
}

void AddRecord(ExecutorLock& held, const ProcedureUpsert& record) {
  const ProcedureRegistry& registry = held.core().deps.registry;
  Result<DecodedRecord> decoded = DecodeRecord(record.bytes);
  const std::string wrong = decoded.ok() ? Contradiction(record, *decoded) : decoded.error().ToString();
  if (!wrong.empty()) {
    Identity id;
    id.pid = id.root = record.pid;
    id.type = "(unreadable record)";
    ProcNode& node = held->tree.Add(std::make_unique<ProcNode>(std::move(id), UnreadableState(record.version)));
    ParkAtLoad(held, node, wrong);
    MarkTreeUnknown(node);
    return;
  }
  Identity id = std::move(decoded->identity);
  std::string orphan;
  const ProcNode* parent = id.parent.valid() ? held->tree.Find(id.parent) : nullptr;
  if (id.parent.valid() && parent == nullptr) {
    orphan = fmt::format("orphan: its parent pid={} is missing", id.parent);
    id.parent = ProcId();
    id.root = id.pid;
  } else if (parent != nullptr && IsTerminal(parent->durable.state) && !IsTerminal(decoded->durable.state) &&
             decoded->durable.state != ProcState::kFailed) {
    orphan = fmt::format("its parent pid={} has finished without it", id.parent);
  }
  const ProcId root = parent == nullptr ? id.pid : parent->root->id.pid;
  const bool other_root = id.root != root;
  id.root = root;
  UsableRecord usable = UseRecord(registry, id, decoded->durable);
  ProcNode& node = held->tree.Add(std::make_unique<ProcNode>(std::move(id), std::move(decoded->durable)));
  node.procedure = std::move(usable.procedure);
  node.begun = MayHaveBegun(node);
  if (!usable.wrong.empty()) ParkAtLoad(held, node, usable.wrong);
  if (other_root && orphan.empty() && (parent == nullptr || !parent->orphaned)) {
    orphan = fmt::format("its record names another root than pid={}", root);
  }
  if (!orphan.empty()) {
    ParkAtLoad(held, node, orphan);
    MarkTreeUnknown(node);
  }
  BindToScheduler(held, node);
}

// A child whose record is lost must neither count as succeeded nor be left out of a rollback: its parent, or the member
// that answers for it, waits for an operator.
void FindHole(ExecutorLock& held, ProcNode& node) {
  if (!node.durable.children || *node.durable.children == node.children.size()) return;
  ProcNode* ancestor = &node;
  while (ancestor->parent != nullptr && IsTerminal(ancestor->durable.state)) ancestor = ancestor->parent;
  const std::string why = fmt::format("hole: pid={} has {} children, but the store holds {} of them", node.id.pid,
                                      *node.durable.children, node.children.size());
  if (IsTerminal(ancestor->durable.state)) return Problem(held, why);
  ParkAtLoad(held, *ancestor, why);
  if (ancestor->missing_children) return;
  ancestor->missing_children = true;
  ++ancestor->root->tree.incomplete;
}

// A running procedure must not have unfinished children: its step would drop them while they act.
void FindRunningParent(ExecutorLock& held, ProcNode& node) {
  if (node.unfinished_children == 0 || !RunsBesideChildren(node.durable)) return;
  ParkAtLoad(
      held, node,
      fmt::format("its record says that it runs, but {} of its children have not finished", node.unfinished_children));
}

// A bypass includes the ancestors, S13 (durations and derived counts). If a master dies between their records, no
// ancestor may continue as if the steps skipped below it had been done.
void BypassAncestors(ProcNode& node) {
  if (!node.durable.bypassed || RATCHET_MUTANT("procedure.bypass_by_own_record")) return;
  for (ProcNode* up = node.parent; up != nullptr; up = up->parent) {
    if (IsTerminal(up->durable.state) || up->durable.bypassed) continue;
    if (up->durable.state == ProcState::kFailed) continue;  // it only undoes its own steps; it runs no new ones
    MarkBypassed(up->durable);
  }
}

void DecideNextAction(ProcNode& node) {
  const NextActionKind kind = ResumeFromRecord(node.durable, node.unfinished_children);
  SetNextAction(node, NextActionOf(kind));
  if (kind == NextActionKind::kFinished) ProcedureTree::SetPhase(node, Phase::kFinished);
}

// S14 (durable lock grants), S16: recorded holders first. Locks of a succeeded child belong to its nearest unfinished
// ancestor.
void RestoreLocks(ExecutorLock& held, const std::vector<ProcNode*>& nodes) {
  std::vector<std::pair<ProcNode*, ProcNode*>> grants;  // owner, and the node whose record has the locks
  for (ProcNode* node : nodes) {
    if (node->durable.locks.empty() || RATCHET_MUTANT("procedure.no_lock_restore")) continue;
    ProcNode* owner = node;
    if (node->root->tree.failing) {
      owner = node->root;  // the tree keeps all of them until it is undone, whichever member held them
    } else if (node->durable.state == ProcState::kSuccess) {
      if (node->parent == nullptr || node->root->durable.past_no_return) continue;
      while (owner->parent != nullptr && owner->durable.state == ProcState::kSuccess) owner = owner->parent;
      SetInheritsChildLocks(held, *owner, true);
    }
    grants.emplace_back(owner, node);
  }
  // Ancestors before descendants: pids rise from parent to child.
  std::stable_sort(grants.begin(), grants.end(),
                   [](const auto& a, const auto& b) { return a.first->id.pid < b.first->id.pid; });
  for (const auto& [owner, node] : grants) {
    const Status status = held->locks.Restore(owner->locks, node->durable.locks);
    if (!status.ok()) {
      ParkAtLoad(held, *node, status.error().ToString());
    } else if (owner == node) {
      node->lock_state = LockState::kRecorded;
    }
  }
}

void RestoreAll(ExecutorLock& held, const std::vector<ProcNode*>& nodes) {
  for (ProcNode* node : nodes) StandStill(held, *node);  // from above
  for (ProcNode* node : nodes) BypassAncestors(*node);
  if (!RATCHET_MUTANT("procedure.no_hole_check")) {
    for (ProcNode* node : nodes) FindHole(held, *node);
  }
  for (ProcNode* node : nodes) FindRunningParent(held, *node);
  for (ProcNode* node : nodes) DecideNextAction(*node);
  for (ProcNode* node : nodes) {
    if (node->parent == nullptr) RestoreRollback(*node);
  }
  RestoreLocks(held, nodes);
  const TimePoint now = held.core().deps.clock.Now();
  for (ProcNode* node : nodes) {
    if ((node->id.nonce_group != 0 || node->id.nonce != 0) && !RATCHET_MUTANT("procedure.nonces_in_memory")) {
      held->nonces.Give({node->id.nonce_group, node->id.nonce}, node->id.pid);
    }
    if (node->parent != nullptr) continue;
    if (IsTerminal(node->durable.state)) held->completed[node->id.pid].finished = now;
  }
}

// Order: rollbacks, started procedures, new ones, each by pid. So a new one takes no lock from one that has begun.
void StartAll(ExecutorLock& held, std::vector<ProcNode*> nodes) {
  const auto rank = [](const ProcNode* node) {
    if (node->root->tree.failing) return 0;
    return node->durable.version > 1 ? 1 : 2;
  };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&rank](const ProcNode* a, const ProcNode* b) { return rank(a) < rank(b); });
  for (ProcNode* node : nodes) {
    if (node->phase == Phase::kFinished) continue;
    if (!node->root->tree.failing) {
      if (node->next_kind() == NextActionKind::kRun)
        SetNextAction(*node, ToRunAgain{});  // one after the other, in this order
      if (node->phase == Phase::kFree) held.Ready(*node);
    } else if (node->phase == Phase::kFree) {
      ProcedureTree::SetPhase(*node, Phase::kWaiting);
    }
  }
  for (ProcNode* node : nodes) {
    if (node->root == node && node->tree.failing) held.ReadyUndo(*node);
  }
}

// True if the step of the parent that reads the result of `node` has not been committed.
bool IsUnread(const ProcNode& node) {
  if (node.parent == nullptr || node.durable.state != ProcState::kSuccess) return false;
  const Durable& parent = node.parent->durable;
  return !IsTerminal(parent.state) && parent.resumed_round == node.id.child_round;
}

}  // namespace

Result<Epoch> RecoverAll(Core& core) {
  ExecutorLock::FollowGroups(core.shared_from_this());
  RATCHET_ASSIGN(LoadedState loaded, core.deps.store.Claim());
  RATCHET_TRY(core.deps.registry.Verify());
  std::vector<ProcNode*> told;  // in the order of their pids; also those that have ended with an unread result
  Epoch epoch = loaded.epoch;
  {
    ExecutorLock held(core);
    held->epoch = loaded.epoch;
    held->max_pid = loaded.max_pid;
    held->system_records = std::move(loaded.system_records);
    held->load_problems = std::move(loaded.problems);
    for (const ProcedureUpsert& record : loaded.records) AddRecord(held, record);
    LoadPauses(held);
    const std::vector<ProcNode*> nodes = held->tree.Sorted();
    held->first_new_pid = loaded.max_pid.Next();
    held->loaded_pids.clear();
    for (const ProcNode* node : nodes) held->loaded_pids.push_back(node->id.pid);
    held->lowest_live = nodes.empty() ? loaded.max_pid.Next() : nodes.front()->id.pid;
    RestoreAll(held, nodes);
    for (ProcNode* node : nodes) {
      if (node->procedure == nullptr) continue;
      if (!IsTerminal(node->durable.state) || IsUnread(*node)) told.push_back(node);
    }
    held.Finish();
  }
  // No step runs yet, so this function may use the objects without the lock.
  std::vector<std::pair<ProcNode*, std::string>> failed;
  for (ProcNode* node : told) {
    const bool ended = IsTerminal(node->durable.state);
    Procedure& author = *node->procedure;
    const Status restored = CallAuthor([&author, ended, &core]() -> Status {
      if (ended) {
        author.OnRecoveredUnread(core.deps.env);
      } else {
        author.OnRecovered(core.deps.env);
      }
      return Ok();
    });
    if (!restored.ok()) failed.emplace_back(ended ? node->parent : node, restored.error().message());
  }
  ExecutorLock held(core);
  for (const auto& [node, why] : failed) ParkAtLoad(held, *node, "its data cannot be used: " + why);
  held->recovered = true;
  std::size_t unfinished = 0;
  for (ProcNode* node : told) {
    if (IsTerminal(node->durable.state)) continue;
    NoteLoaded(held, *node);
    ArmDeadline(held, *node);
    ++unfinished;
  }
  StartAll(held, held->tree.Sorted());
  RATCHET_LOG(kInfo, "loaded {} procedures in epoch {}, {} unfinished, {} problems", held->tree.size(), epoch,
              unfinished, held->load_problems.size());
  held.Finish();
  return epoch;
}

// ReplayRecords of api/offline_store.h.

namespace {

// Empty: the history agrees with the table.
std::string WrongPast(const Procedure& procedure, const std::vector<StepHistoryEntry>& past) {
  for (const StepHistoryEntry& entry : past) {
    const StepRow* row = procedure.FindRow(entry.step);
    if (row == nullptr)
      return fmt::format("its history has the state {}, which its step table does not have", entry.step);
    const bool undone = entry.outcome == OutcomeKind::kUndone || entry.outcome == OutcomeKind::kUndoFailed;
    if (undone && row->undo != UndoKind::kCall)
      return fmt::format("its history has an undo of {}, which has none: was the state {} renumbered?", row->name,
                         entry.step);
  }
  return {};
}

class Replay {
 public:
  Replay(const ProcedureRegistry& registry, ReplayReport& report) : registry_(registry), report_(report) {}

  void Take(const ProcedureUpsert& stored) {
    ++report_.records;
    const Result<DecodedRecord> decoded = DecodeRecord(stored.bytes);
    if (!decoded.ok()) {
      ++report_.unfinished;  // no end is recorded
      return Add({stored.pid, "", "its record cannot be read: " + decoded.error().message(), true});
    }
    const auto& [id, durable] = *decoded;
    const bool ended = IsTerminal(durable.state);
    if (!ended) ++report_.unfinished;
    const std::vector<StepHistoryEntry> past = durable.history.Entries();
    report_.steps += past.size();
    const UsableRecord usable = UseRecord(registry_, id, durable);
    if (!usable.wrong.empty()) return Add({stored.pid, id.type, usable.wrong, !ended});
    if (std::string wrong = WrongPast(*usable.procedure, past); !wrong.empty())
      Add({stored.pid, id.type, std::move(wrong), false});
  }

 private:
  void Add(ReplayFinding finding) {
    ++(finding.would_park ? report_.parked : report_.told_wrongly);
    if (report_.findings.size() < kMostFindings) report_.findings.push_back(std::move(finding));
  }

  const ProcedureRegistry& registry_;
  ReplayReport& report_;
};

}  // namespace

ReplayReport ReplayRecords(const ProcedureRegistry& registry, const OfflineStore& store) {
  ReplayReport report;
  Replay replay(registry, report);
  for (const ProcedureUpsert& record : store.records) replay.Take(record);
  return report;
}

}  // namespace ratchet::procedure
