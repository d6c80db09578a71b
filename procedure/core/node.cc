#include "procedure/core/node.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace ratchet::procedure {

std::string_view PhaseName(Phase phase) {
  using enum Phase;
  switch (phase) {
    case kFree: return "free";
    case kLockLine: return "lock_line";
    case kQueued: return "queued";
    case kRunning: return "running";
    case kCommitting: return "committing";
    case kWaiting: return "waiting";
    case kFinished: return "finished";
  }
  return "?";
}

namespace {

static_assert(std::variant_size_v<NextAction> == kAllNextActionKinds.size());
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(NextActionKind::kRetry), NextAction>, ForRetry>);
static_assert(
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(NextActionKind::kFinished), NextAction>, Ended>);

template <class AnyAction>
auto* Find(AnyAction& next_action) {
  using Found = decltype(&std::get<ForEvent>(next_action).wait);
  return std::visit(
      [](auto& what) -> Found {
        if constexpr (requires { what.wait; }) return &what.wait;
        if constexpr (requires { what.backoff; }) return what.backoff ? &*what.backoff : nullptr;
        return nullptr;
      },
      next_action);
}

}  // namespace

NextAction NextActionOf(NextActionKind kind) {
  switch (kind) {
    case NextActionKind::kRun: return ToRun{};
    case NextActionKind::kRunAgain: return ToRunAgain{};
    case NextActionKind::kChildren: return ForChildren{};
    case NextActionKind::kEvent: return ForEvent{};
    case NextActionKind::kAsync: return ForAsync{};
    case NextActionKind::kRetry: return ForRetry{};
    case NextActionKind::kOperator: return ForOperator{};
    case NextActionKind::kUndo: return ForUndo{};
    case NextActionKind::kFinished: return Ended{};
  }
  return ToRun{};
}

Wait* WaitIn(NextAction& next_action) { return Find(next_action); }
const Wait* WaitIn(const NextAction& next_action) { return Find(next_action); }

namespace {

[[gnu::cold, gnu::noinline]] void RefuseMove(const ProcNode& node, NextActionKind kind) {
  RATCHET_CHECK(false, "pid {} wants {} after {}", node.id.pid, NextActionKindName(kind),
                NextActionKindName(node.next_kind()));
}

}  // namespace

void SetNextAction(ProcNode& node, NextAction&& next_action) {
  if (KindOf(next_action) == NextActionKind::kRun && node.next_kind() == NextActionKind::kRun)
    return;  // the common case: from one step to the next
  if (!IsLegalMove(node.next_kind(), KindOf(next_action))) RefuseMove(node, KindOf(next_action));
  const Wait* wait = WaitIn(node.next_action);
  RATCHET_CHECK(wait == nullptr || wait->stage != Wait::Stage::kUnderWay, "pid {} leaves a wait that is in progress",
                node.id.pid);
  node.next_action = std::move(next_action);
}

void ForgetRuns(ProcNode& node) {
  node.attempt = 1;
  node.last_error.reset();
  node.unrecorded_runs = 0;
}

void EnterSlot(std::vector<ProcNode*>& list, ProcNode& node) {
  node.running_slot = list.size();
  list.push_back(&node);
}

void LeaveSlot(std::vector<ProcNode*>& list, ProcNode& node) {
  list[node.running_slot] = list.back();
  list[node.running_slot]->running_slot = node.running_slot;
  list.pop_back();
}

void ForgetAsyncResults(ProcNode& node) {
  if (node.async_results == nullptr) return;
  node.async_results->Forget();
  node.async_results.reset();
}

void ResetStep(ProcNode& node) {
  ForgetRuns(node);
  node.timed_out = false;
  node.begun = false;
  ForgetAsyncResults(node);
}

ProcedureUpsert UpsertOf(const ProcNode& node, const Durable& durable) {
  return {node.id.pid, durable.version, EncodeRecord(node.id, durable)};
}

std::string FaultDetail(const ProcNode& node, StepNo step, bool undo) {
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(step);
  std::string detail = node.id.type + ":" + (row == nullptr ? std::to_string(step) : std::string(row->name));
  if (undo) detail += ":undo";
  return detail;
}

ProcNode& ProcedureTree::Add(std::unique_ptr<ProcNode> node) {
  ProcNode& added = *node;
  if (added.id.parent.valid()) {
    ProcNode* parent = Find(added.id.parent);
    RATCHET_CHECK(parent != nullptr, "pid {} has no parent {} in memory", added.id.pid, added.id.parent);
    added.parent = parent;
    added.root = parent->root;
    added.locks.SetParent(&parent->locks);
    parent->children.push_back(&added);
    if (!IsTerminal(added.durable.state)) ++parent->unfinished_children;
  } else {
    added.root = &added;
  }
  RATCHET_CHECK(nodes_.emplace(added.id.pid, std::move(node)).second, "pid {} exists twice", added.id.pid);
  return added;
}

void ProcedureTree::Remove(ProcNode& node) {
  RATCHET_CHECK(node.children.empty(), "pid {} still has children", node.id.pid);
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} is busy", node.id.pid);
  if (node.parent != nullptr) {
    auto& siblings = node.parent->children;
    // Children are usually removed youngest first.
    const auto mine = std::find(siblings.rbegin(), siblings.rend(), &node);
    siblings.erase(std::next(mine).base());
  }
  nodes_.erase(node.id.pid);
}

ProcNode* ProcedureTree::Find(ProcId pid) const {
  const auto found = nodes_.find(pid);
  return found == nodes_.end() ? nullptr : found->second.get();
}

std::vector<ProcNode*> ProcedureTree::Sorted() const {
  std::vector<ProcNode*> all;
  all.reserve(nodes_.size());
  for (const auto& [pid, node] : nodes_) all.push_back(node.get());
  std::sort(all.begin(), all.end(), [](const ProcNode* a, const ProcNode* b) { return a->id.pid < b->id.pid; });
  return all;
}

std::vector<ProcNode*> ProcedureTree::Subtree(ProcNode& node) {
  std::vector<ProcNode*> all{&node};
  for (std::size_t i = 0; i < all.size(); ++i) {  // `all` grows while the loop runs
    const auto& children = all[i]->children;
    all.insert(all.end(), children.begin(), children.end());
  }
  return all;
}

namespace {

[[gnu::cold, gnu::noinline]] void RefuseMove(const ProcNode& node, Phase phase) {
  RATCHET_CHECK(false, "pid {} goes from {} to {}", node.id.pid, PhaseName(node.phase), PhaseName(phase));
}

}  // namespace

void ProcedureTree::SetPhase(ProcNode& node, Phase phase) {
  if (!IsLegalMove(node.phase, phase)) RefuseMove(node, phase);
  const bool was = IsBusy(node.phase);
  const bool is = IsBusy(phase);
  node.phase = phase;
  if (phase != Phase::kFree) node.ready.Leave();
  if (was == is) return;
  if (is) {
    ++node.root->tree.busy;
  } else {
    --node.root->tree.busy;
  }
}

}  // namespace ratchet::procedure
