#include "procedure/engine/children.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "procedure/api/proc_state.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/notifications.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/queueing.h"

namespace ratchet::procedure {
namespace {

std::unique_ptr<ProcNode> MakeNode(ExecutorLock& held, Identity id, ProcedurePtr procedure) {
  held->max_pid = held->max_pid.Next();
  id.pid = held->max_pid;
  if (!id.root.valid()) id.root = id.pid;
  id.type = std::string(procedure->type_name());
  id.data_version = procedure->data_version();
  id.submitted_ms = held.now_ms();
  Durable durable = NewState(*procedure, !id.parent.valid(), id.submitted_ms);
  ProcedureIdentity::Set(*procedure, id);
  auto node = std::make_unique<ProcNode>(std::move(id), std::move(durable));
  node->procedure = std::move(procedure);
  return node;
}

Status CheckChild(ExecutorLock& held, const ProcNode& parent, const StepRow& row, const Procedure& child) {
  const ProcedureRegistry::Type& type = *held.core().deps.registry.Find(child.type_name());
  if (type.has_point_of_no_return() && row.undo != UndoKind::kPointOfNoReturn) {
    return Error(Code::kInternal, fmt::format("{} spawns {}, which has a point of no return, but is not one itself",
                                              row.name, type.name));
  }
  if (RATCHET_MUTANT("procedure.any_lock_order")) return Ok();
  return CallAuthor([&] { return LockManager::CheckOrder(&parent.locks, child.Locks().Expanded()); });
}

}  // namespace

Status CheckNew(const ProcedureRegistry& registry, const Procedure* procedure) {
  if (procedure == nullptr) return Error(Code::kInvalidArgument, "no procedure given");
  if (registry.Find(procedure->type_name()) == nullptr) {
    return Error(Code::kInvalidArgument, fmt::format("procedure type {} is not registered", procedure->type_name()));
  }
  if (procedure->pid().valid()) {
    return Error(Code::kInvalidArgument, fmt::format("procedure pid={} was submitted before", procedure->pid()));
  }
  return CallAuthor([procedure] { return procedure->CheckInitial(); });
}

std::unique_ptr<ProcNode> MakeRoot(ExecutorLock& held, ProcedurePtr procedure, const SubmitOptions& options) {
  Identity id;
  id.owner = options.owner.empty() ? held.options().owner : options.owner;
  id.nonce_group = options.nonce.group;
  id.nonce = options.nonce.nonce;
  id.deadline_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, options.deadline.count()));
  auto node = MakeNode(held, std::move(id), std::move(procedure));
  node->root = node.get();
  return node;
}

Result<std::vector<std::unique_ptr<ProcNode>>> MakeChildren(ExecutorLock& held, ProcNode& parent, const StepRow& row,
                                                            std::vector<ProcedurePtr> children) {
  for (const ProcedurePtr& child : children) {
    const Status is_new = CheckNew(held.core().deps.registry, child.get());
    if (!is_new.ok()) return is_new.error().Annotate("cannot spawn");
    RATCHET_TRY(CheckChild(held, parent, row, *child));
  }
  std::vector<std::unique_ptr<ProcNode>> nodes;
  nodes.reserve(children.size());
  for (ProcedurePtr& child : children) {
    Identity id;
    id.parent = parent.id.pid;
    id.root = parent.id.root;
    id.owner = parent.id.owner;
    id.child_round = parent.durable.spawn_round + 1;
    nodes.push_back(MakeNode(held, std::move(id), std::move(child)));
    nodes.back()->locks.SetParent(&parent.locks);
  }
  return nodes;
}

bool AnyHasUndo(ExecutorLock& held, const std::vector<std::unique_ptr<ProcNode>>& children) {
  return std::any_of(children.begin(), children.end(),
                     [&held](const auto& child) { return held.core().deps.registry.Find(child->id.type)->has_undo(); });
}

void TryGrant(ExecutorLock& held, ProcNode& node) {
  if (PausedBy(held, node) != nullptr) return;
  const std::vector<LockRequest> wanted = node.procedure->Locks().Expanded();
  if (wanted.empty() || held->locks.TryNow(node.locks, wanted)) {
    GrantWithInsert(node.durable, wanted);
    node.lock_state = LockState::kRecorded;
  }
}

void TryGrantAll(ExecutorLock& held, const std::vector<std::unique_ptr<ProcNode>>& nodes) {
  for (const auto& node : nodes) TryGrant(held, *node);
}

ProcNode& Adopt(ExecutorLock& held, std::unique_ptr<ProcNode> node) {
  ProcNode& added = held->tree.Add(std::move(node));
  BindToScheduler(held, added);
  NoteAdded(held, added);
  return added;
}

}  // namespace ratchet::procedure
