#include "procedure/engine/recovery.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "procedure/author/author_call.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/rollback.h"
#include "procedure/pure/usable_record.h"
#include "procedure/session/places.h"
#include "procedure/views/notices.h"

namespace ratchet::procedure {
namespace {

void Problem(Session& session, std::string text) {
  RATCHET_LOG(kError, "loading procedures: {}", text);
  session->load_problems.push_back(std::move(text));
}

// Parks in memory only: what the record says stays as it is, for a version that understands it.
void ParkAtLoad(Session& session, ProcNode& node, const std::string& why) {
  node.durable.parked = why;
  SetIntent(node, ForOperator{});
  Problem(session, fmt::format("pid={} {} is parked: {}", node.id.pid, node.id.type, why));
}

// What its tree is, and whether it may still be undone, stood in a record that is lost: nothing at or below `node` runs
// or is undone before an operator acts.
void MarkTreeUnknown(ProcNode& node) {
  node.stands_still = true;
  if (node.parent != nullptr) return;  // what its root's record says is known
  node.hole = true;
  ++node.tree.holes;
}

void StandStill(Session& session, ProcNode& node) {
  if (node.parent == nullptr || !node.parent->stands_still || RATCHET_MUTANT("procedure.orphans_go_on")) return;
  node.stands_still = true;
  if (IsTerminal(node.durable.state) || !node.durable.parked.empty()) return;
  ParkAtLoad(session, node, fmt::format("stands still: pid={} above it is an orphan", node.parent->id.pid));
}

// What of a record that can be read contradicts where it was found; empty: nothing.
std::string Contradiction(const ProcedureUpsert& stored, const DecodedRecord& decoded) {
  if (decoded.identity.pid != stored.pid) return "the record names another pid";
  if (RATCHET_MUTANT("procedure.trust_records")) return {};
  if (decoded.durable.version != stored.version) {
    return fmt::format("the record says version {} and the store version {}", decoded.durable.version, stored.version);
  }
  return {};
}

// S83: a step that is undone when it may have acted keeps its locks (S16), and they were on record before it ran (S14).
// Without them it has not begun: an undo would act on what others hold. Otherwise nothing tells.
bool MayHaveBegun(const ProcNode& node) {
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(node.durable.step);
  if (row == nullptr || row->undo != UndoKind::kCall || RATCHET_MUTANT("procedure.undo_without_locks")) return true;
  return node.procedure->Locks().Expanded() == node.durable.locks;
}

void AddRecord(Session& session, const ProcedureUpsert& record) {
  const ProcedureRegistry& registry = session.core().deps.registry;
  Result<DecodedRecord> decoded = DecodeRecord(record.bytes);
  const std::string wrong = decoded.ok() ? Contradiction(record, *decoded) : decoded.error().ToString();
  if (!wrong.empty()) {
    Identity id;
    id.pid = id.root = record.pid;
    id.type = "(unreadable record)";
    Durable durable;
    durable.version = record.version;
    ProcNode& node = session->tree.Add(std::make_unique<ProcNode>(std::move(id), std::move(durable)));
    ParkAtLoad(session, node, wrong);
    MarkTreeUnknown(node);
    return;
  }
  Identity id = std::move(decoded->identity);
  std::string orphan;
  const ProcNode* parent = id.parent.valid() ? session->tree.Find(id.parent) : nullptr;
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
  ProcNode& node = session->tree.Add(std::make_unique<ProcNode>(std::move(id), std::move(decoded->durable)));
  node.procedure = std::move(usable.procedure);
  node.begun = MayHaveBegun(node);
  if (!usable.wrong.empty()) ParkAtLoad(session, node, usable.wrong);
  if (other_root && orphan.empty() && (parent == nullptr || !parent->stands_still)) {
    orphan = fmt::format("its record names another root than pid={}", root);
  }
  if (!orphan.empty()) {
    ParkAtLoad(session, node, orphan);
    MarkTreeUnknown(node);
  }
  BindToScheduler(session, node);
}

// A child whose record is gone must neither count as succeeded nor be left out of an undoing: its parent, or the member
// that is left to answer for it, waits for an operator.
void FindHole(Session& session, ProcNode& node) {
  if (!node.durable.children || *node.durable.children == node.children.size()) return;
  ProcNode* keeper = &node;
  while (keeper->parent != nullptr && IsTerminal(keeper->durable.state)) keeper = keeper->parent;
  const std::string why = fmt::format("hole: pid={} has {} children, but the store holds {} of them", node.id.pid,
                                      *node.durable.children, node.children.size());
  if (IsTerminal(keeper->durable.state)) return Problem(session, why);
  ParkAtLoad(session, *keeper, why);
  if (keeper->hole) return;
  keeper->hole = true;
  ++keeper->root->tree.holes;
}

// What runs has no unfinished children: its step would drop them while they act.
void FindRunningParent(Session& session, ProcNode& node) {
  if (node.unfinished_children == 0 || !RunsBesideChildren(node.durable)) return;
  ParkAtLoad(
      session, node,
      fmt::format("its record says that it runs, but {} of its children have not finished", node.unfinished_children));
}

// A bypass takes the ancestors along (S13). A master that dies between their records must not let one of them go on as
// if what was skipped below it had been done.
void BypassAncestors(ProcNode& node) {
  if (!node.durable.bypassed || RATCHET_MUTANT("procedure.bypass_by_own_record")) return;
  for (ProcNode* up = node.parent; up != nullptr; up = up->parent) {
    if (IsTerminal(up->durable.state) || up->durable.bypassed) continue;
    if (up->durable.state == ProcState::kFailed) continue;  // it only undoes what it has done; nothing goes on there
    up->durable.bypassed = true;
    up->durable.parked.clear();
    up->durable.undo.clear();
  }
}

void DecideWant(ProcNode& node) {
  ProcState& state = node.durable.state;
  if (state == ProcState::kInitializing) MoveTo(state, ProcState::kRunnable);
  // Also when it cannot be read: its result can.
  if (!node.durable.parked.empty() && !IsTerminal(state)) {
    SetIntent(node, ForOperator{});
    return;
  }
  Want want = WantByState(state);
  if (state == ProcState::kWaiting && node.unfinished_children == 0) {
    MoveTo(state, ProcState::kRunnable);  // derived, never stored (S13)
    want = RATCHET_MUTANT("procedure.wake_from_counter") ? Want::kEvent : Want::kRun;
  } else if (state == ProcState::kWaitingTimeout) {  // events are forgotten: it looks again, its time-out starts anew
    MoveTo(state, ProcState::kRunnable);
    if (RATCHET_MUTANT("procedure.load_keeps_waiting")) want = Want::kEvent;
  }
  SetIntent(node, IntentOf(want));
  if (want == Want::kFinished) ProcedureTree::SetPhase(node, Phase::kFinished);
}

// S14, S16: recorded holders first; what a succeeded child holds belongs to its nearest unfinished ancestor.
void RestoreLocks(Session& session, const std::vector<ProcNode*>& nodes) {
  if (RATCHET_MUTANT("procedure.no_lock_restore")) return;
  std::vector<std::pair<ProcNode*, ProcNode*>> grants;  // owner, whose record
  for (ProcNode* node : nodes) {
    if (node->durable.locks.empty()) continue;
    ProcNode* owner = node;
    if (node->root->tree.failing) {
      owner = node->root;  // the tree keeps them all until it is undone, whichever member had them
    } else if (node->durable.state == ProcState::kSuccess) {
      if (node->parent == nullptr || node->root->durable.past_no_return) continue;
      while (owner->parent != nullptr && owner->durable.state == ProcState::kSuccess) owner = owner->parent;
      SetKeeps(session, *owner, true);
    }
    grants.emplace_back(owner, node);
  }
  // Ancestors before descendants: pids rise from parent to child.
  std::stable_sort(grants.begin(), grants.end(),
                   [](const auto& a, const auto& b) { return a.first->id.pid < b.first->id.pid; });
  for (const auto& [owner, node] : grants) {
    const Status status = session->locks.Restore(owner->locks, node->durable.locks);
    if (!status.ok()) {
      ParkAtLoad(session, *node, status.error().ToString());
    } else if (owner == node) {
      node->has_grant = true;
    }
  }
}

void RestoreAll(Session& session, const std::vector<ProcNode*>& nodes) {
  for (ProcNode* node : nodes) StandStill(session, *node);  // from above
  for (ProcNode* node : nodes) BypassAncestors(*node);
  if (!RATCHET_MUTANT("procedure.no_hole_check")) {
    for (ProcNode* node : nodes) FindHole(session, *node);
  }
  for (ProcNode* node : nodes) FindRunningParent(session, *node);
  for (ProcNode* node : nodes) DecideWant(*node);
  for (ProcNode* node : nodes) {
    if (node->parent == nullptr) RestoreRollback(*node);
  }
  RestoreLocks(session, nodes);
  const TimePoint now = session.core().deps.clock.Now();
  for (ProcNode* node : nodes) {
    if ((node->id.nonce_group != 0 || node->id.nonce != 0) && !RATCHET_MUTANT("procedure.nonces_in_memory")) {
      session->nonces.Give({node->id.nonce_group, node->id.nonce}, node->id.pid);
    }
    if (node->parent != nullptr) continue;
    if (IsTerminal(node->durable.state)) session->completed[node->id.pid].finished = now;
  }
}

// Undoing first, then what has run before, then what is new, each by pid: a new one takes no lock from one that has
// begun.
void StartAll(Session& session, std::vector<ProcNode*> nodes) {
  const auto rank = [](const ProcNode* node) {
    if (node->root->tree.failing) return 0;
    return node->durable.version > 1 ? 1 : 2;
  };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&rank](const ProcNode* a, const ProcNode* b) { return rank(a) < rank(b); });
  for (ProcNode* node : nodes) {
    if (node->phase == Phase::kFinished) continue;
    if (!node->root->tree.failing) {
      if (node->want() == Want::kRun) SetIntent(*node, ToRunAgain{});  // behind each other, in this order
      if (node->phase == Phase::kFree) session.Ready(*node);
    } else if (node->phase == Phase::kFree) {
      ProcedureTree::SetPhase(*node, Phase::kWaiting);
    }
  }
  for (ProcNode* node : nodes) {
    if (node->root == node && node->tree.failing) session.ReadyUndo(*node);
  }
}

}  // namespace

Result<Epoch> RecoverAll(Core& core) {
  Session::FollowGroups(core.shared_from_this());
  RATCHET_ASSIGN(LoadedState loaded, core.deps.store.Claim());
  RATCHET_TRY(core.deps.registry.Verify());
  std::vector<std::pair<Procedure*, ProcNode*>> live;
  Epoch epoch = loaded.epoch;
  {
    Session session(core);
    session->epoch = loaded.epoch;
    session->max_pid = loaded.max_pid;
    session->system_records = std::move(loaded.system_records);
    session->load_problems = std::move(loaded.problems);
    for (const ProcedureUpsert& record : loaded.records) AddRecord(session, record);
    LoadPauses(session);
    const std::vector<ProcNode*> nodes = session->tree.Sorted();
    session->lowest_live = nodes.empty() ? loaded.max_pid.Next() : nodes.front()->id.pid;
    RestoreAll(session, nodes);
    for (ProcNode* node : nodes) {
      if (node->procedure != nullptr && !IsTerminal(node->durable.state))
        live.emplace_back(node->procedure.get(), node);
    }
  }
  // Nothing runs yet, so the objects are ours without the lock.
  std::vector<std::pair<ProcNode*, std::string>> failed;
  for (const auto& each : live) {
    const Status told = CallAuthor([&]() -> Status {
      each.first->OnRecovered(core.deps.env);
      return Ok();
    });
    if (!told.ok()) failed.emplace_back(each.second, told.error().message());
  }
  Session session(core);
  for (const auto& [node, why] : failed) ParkAtLoad(session, *node, "its data cannot be used: " + why);
  session->recovered = true;
  for (const auto& [procedure, node] : live) NoteLoaded(session, *node);
  StartAll(session, session->tree.Sorted());
  RATCHET_LOG(kInfo, "loaded {} procedures in epoch {}, {} unfinished, {} problems", session->tree.size(), epoch,
              live.size(), session->load_problems.size());
  return epoch;
}

}  // namespace ratchet::procedure
