#include "procedure/engine/children.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "procedure/author/author_call.h"
#include "procedure/engine/pause.h"
#include "procedure/record/identity.h"
#include "procedure/session/places.h"
#include "procedure/views/notices.h"

namespace ratchet::procedure {
namespace {

std::unique_ptr<ProcNode> MakeNode(Session& session, Identity id, ProcedurePtr procedure) {
  session->max_pid = session->max_pid.Next();
  id.pid = session->max_pid;
  if (!id.root.valid()) id.root = id.pid;
  id.type = std::string(procedure->type_name());
  id.data_version = procedure->data_version();
  id.submitted_ms = session.now_ms();
  Durable durable;
  durable.state = ProcState::kRunnable;
  durable.step = procedure->rows().front().number;
  durable.data = procedure->SerializeData();
  durable.version = 1;
  durable.updated_ms = id.submitted_ms;
  ProcedureIdentity::Set(*procedure, id);
  auto node = std::make_unique<ProcNode>(std::move(id), std::move(durable));
  node->procedure = std::move(procedure);
  return node;
}

Status CheckChild(Session& session, const ProcNode& parent, const StepRow& row, const Procedure& child) {
  const ProcedureRegistry::Type& type = *session.core().deps.registry.Find(child.type_name());
  if (type.has_point_of_no_return() && row.undo != UndoKind::kPointOfNoReturn) {
    return Error(Code::kInternal,
                 fmt::format("{} spawns {}, which has a point of no return, and is none itself", row.name, type.name));
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

std::unique_ptr<ProcNode> MakeRoot(Session& session, ProcedurePtr procedure, const SubmitOptions& options) {
  Identity id;
  id.owner = options.owner.empty() ? session.options().owner : options.owner;
  id.nonce_group = options.nonce.group;
  id.nonce = options.nonce.nonce;
  auto node = MakeNode(session, std::move(id), std::move(procedure));
  node->root = node.get();
  const StepRow& first = node->procedure->rows().front();
  node->durable.past_no_return = first.undo == UndoKind::kPointOfNoReturn;
  return node;
}

Result<std::vector<std::unique_ptr<ProcNode>>> MakeChildren(Session& session, ProcNode& parent, const StepRow& row,
                                                            std::vector<ProcedurePtr> children) {
  for (const ProcedurePtr& child : children) {
    const Status is_new = CheckNew(session.core().deps.registry, child.get());
    if (!is_new.ok()) return is_new.error().Annotate("cannot spawn");
    RATCHET_TRY(CheckChild(session, parent, row, *child));
  }
  std::vector<std::unique_ptr<ProcNode>> nodes;
  nodes.reserve(children.size());
  for (ProcedurePtr& child : children) {
    Identity id;
    id.parent = parent.id.pid;
    id.root = parent.id.root;
    id.owner = parent.id.owner;
    id.child_round = parent.durable.spawn_round + 1;
    nodes.push_back(MakeNode(session, std::move(id), std::move(child)));
    nodes.back()->locks.SetParent(&parent.locks);
  }
  return nodes;
}

bool AnyHasUndo(Session& session, const std::vector<std::unique_ptr<ProcNode>>& children) {
  return std::any_of(children.begin(), children.end(), [&session](const auto& child) {
    return session.core().deps.registry.Find(child->id.type)->has_undo();
  });
}

void TryGrant(Session& session, ProcNode& node) {
  if (PausedBy(session, node) != nullptr) return;
  const std::vector<LockRequest> wanted = node.procedure->Locks().Expanded();
  if (wanted.empty() || session->locks.TryNow(node.locks, wanted)) {
    node.durable.locks = wanted;
    node.has_grant = true;
  }
}

void TryGrantAll(Session& session, const std::vector<std::unique_ptr<ProcNode>>& nodes) {
  for (const auto& node : nodes) TryGrant(session, *node);
}

ProcNode& Adopt(Session& session, std::unique_ptr<ProcNode> node) {
  ProcNode& added = session->tree.Add(std::move(node));
  BindToScheduler(session, added);
  NoteAdded(session, added);
  return added;
}

}  // namespace ratchet::procedure
