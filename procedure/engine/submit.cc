#include "procedure/engine/submit.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/base/printable.h"
#include "procedure/api/proc_state.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/observe.h"
#include "procedure/engine/operator_verbs.h"
#include "procedure/engine/pause.h"
#include "procedure/engine/waiting.h"

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

void KeepWanted(ProcNode& node, std::unique_ptr<FoundLocks> wanted) {
  node.wanted = std::move(wanted);
  node.wanted_version = node.durable.version;
}

// Null: what was found is of another state, or nothing was found.
const FoundLocks* FoundFor(const ProcNode& node) {
  return node.wanted_version == node.durable.version ? node.wanted.get() : nullptr;
}

Status CheckChild(ExecutorLock& held, const ProcNode& parent, const StepRow& row, const Procedure& child,
                  const FoundLocks* wanted) {
  const ProcedureRegistry::Type& type = *held.core().deps.registry.Find(child.type_name());
  if (type.has_point_of_no_return() && row.undo != UndoKind::kPointOfNoReturn) {
    return Error(Code::kInternal, fmt::format("{} spawns {}, which has a point of no return, but is not one itself",
                                              row.name, type.name));
  }
  const auto check = [&] {
    return LockManager::CheckOrder(&parent.locks, wanted != nullptr ? wanted->locks : child.Locks().Expanded());
  };
  return RATCHET_MUTANT("procedure.any_lock_order") ? Ok() : CallAuthor(check);
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
  // Texts from outside: bounded, and without bytes that a record cannot have as text.
  id.peer = PrintableText(std::string_view(options.origin.peer).substr(0, kMostOriginBytes));
  id.method = PrintableText(std::string_view(options.origin.method).substr(0, kMostOriginBytes));
  id.nonce_group = options.nonce.group;
  id.nonce = options.nonce.nonce;
  id.deadline_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, options.deadline.count()));
  auto node = MakeNode(held, std::move(id), std::move(procedure));
  node->root = node.get();
  return node;
}

Result<std::vector<std::unique_ptr<ProcNode>>> MakeChildren(ExecutorLock& held, ProcNode& parent, const StepRow& row,
                                                            std::vector<ProcedurePtr> children,
                                                            WantedByChildren wanted) {
  for (std::size_t i = 0; i < children.size(); ++i) {
    const Status is_new = CheckNew(held.core().deps.registry, children[i].get());
    if (!is_new.ok()) return is_new.error().Annotate("cannot spawn");
    RATCHET_TRY(CheckChild(held, parent, row, *children[i], wanted[i].get()));
  }
  std::vector<std::unique_ptr<ProcNode>> nodes;
  nodes.reserve(children.size());
  for (std::size_t i = 0; i < children.size(); ++i) {
    Identity id;
    id.parent = parent.id.pid;
    id.root = parent.id.root;
    id.owner = parent.id.owner;
    id.child_round = parent.durable.spawn_round + 1;
    nodes.push_back(MakeNode(held, std::move(id), std::move(children[i])));
    KeepWanted(*nodes.back(), std::move(wanted[i]));
    nodes.back()->locks.SetParent(&parent.locks);
  }
  return nodes;
}

bool AnyHasUndo(ExecutorLock& held, const std::vector<std::unique_ptr<ProcNode>>& children) {
  return std::any_of(children.begin(), children.end(),
                     [&held](const auto& child) { return held.core().deps.registry.Find(child->id.type)->has_undo(); });
}

std::unique_ptr<FoundLocks> WantedBy(const Procedure* procedure, const ExecutorOptions& options) {
  if (procedure == nullptr || !procedure->HasManyLocks()) return nullptr;
  auto wanted = std::make_unique<FoundLocks>();
  const Status found = CallAuthor([&]() -> Status {
    const LockSet locks = procedure->Locks();
    wanted->locks = locks.Expanded();
    wanted->place = PlaceOf(*procedure, locks, options.system_tables);
    return Ok();
  });
  return found.ok() ? std::move(wanted) : nullptr;
}

std::vector<LockRequest> TakeWanted(ProcNode& node) {
  const bool found = FoundFor(node) != nullptr;
  const std::unique_ptr<FoundLocks> wanted = std::move(node.wanted);
  return found ? std::move(wanted->locks) : node.procedure->Locks().Expanded();
}

void TryGrant(ExecutorLock& held, ProcNode& node) {
  if (PausedBy(held, node) != nullptr) return;
  std::vector<LockRequest> asked;
  if (FoundFor(node) == nullptr) asked = node.procedure->Locks().Expanded();
  std::vector<LockRequest>& wanted = FoundFor(node) != nullptr ? node.wanted->locks : asked;
  if (wanted.empty() || held->locks.TryNow(node.locks, wanted)) {
    GrantWithInsert(node.durable, std::move(wanted));
    node.lock_state = LockState::kRecorded;
  }
}

void TryGrantAll(ExecutorLock& held, const std::vector<std::unique_ptr<ProcNode>>& nodes) {
  for (const auto& node : nodes) TryGrant(held, *node);
}

ProcNode& Adopt(ExecutorLock& held, std::unique_ptr<ProcNode> node) {
  ProcNode& added = held->tree.Add(std::move(node));
  BindToScheduler(held, added, FoundFor(added));
  if (added.lock_state == LockState::kRecorded) added.wanted.reset();
  NoteAdded(held, added);
  return added;
}

namespace {

using Answered = std::function<void(Result<ProcId>)>;

NonceTable::Key KeyOf(const Nonce& nonce) { return {nonce.group, nonce.nonce}; }

// Declared in the order of a submission.
bool Reserve(Core& core, const SubmitOptions& options, Answered& done);
void Refuse(Core& core, const SubmitOptions& options, const Error& why, bool remember, Answered done);
void Insert(Core& core, ProcedurePtr procedure, const SubmitOptions& options, Answered done);
void AnswerAll(ExecutorLock& held, std::vector<NonceTable::Answer> waiters, const Result<ProcId>& answer);

}  // namespace

bool IsFinal(const Error& error) {
  switch (error.code()) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kFailedPrecondition:
    case Code::kUnsupported: return true;
    default: return false;
  }
}

void SubmitAsync(Core& core, ProcedurePtr procedure, SubmitOptions options, Answered done) {
  if (!Reserve(core, options, done)) return;
  Status sound = CheckNew(core.deps.registry, procedure.get());
  if (!sound.ok()) {
    Refuse(core, options, sound.error(), /*remember=*/true, std::move(done));
    return;
  }
  if (options.pre_check) {
    if (Status pre = CallAuthor(options.pre_check); !pre.ok()) {
      const bool remember = options.is_final ? options.is_final(pre.error()) : IsFinal(pre.error());
      Refuse(core, options, pre.error(), remember || RATCHET_MUTANT("procedure.remember_any_refusal"), std::move(done));
      return;
    }
  }
  // Without an owner it is the host's own work, such as handling a crash, S60 (own procedures ignore low space).
  const bool must_pass = options.owner.empty() && !RATCHET_MUTANT("procedure.refuse_own_work");
  if (Status room = must_pass ? Ok() : core.deps.store.Admit(); !room.ok()) {
    Refuse(core, options, room.error(), /*remember=*/false, std::move(done));
    return;
  }
  Insert(core, std::move(procedure), options, std::move(done));
}

namespace {

// Returns true if this submission continues. Returns false if it was answered, or waits for the first one with its
// nonce.
bool Reserve(Core& core, const SubmitOptions& options, Answered& done) {
  ExecutorLock held(core);
  bool first = false;
  if (!held->recovered || held->stopping || held->halted) {
    held.Later([done = std::move(done)] { done(Error(Code::kUnavailable, "the executor does not accept requests")); });
  } else if (!options.nonce.valid()) {
    first = true;
  } else {
    NonceTable::Reservation reservation = held->nonces.Reserve(KeyOf(options.nonce), done);
    first = reservation.first;
    if (reservation.answer) {
      held.Later([done = std::move(done), answer = *std::move(reservation.answer)] { done(answer); });
    }
  }
  held.Finish();
  return first;
}

// `remember`: the same nonce gets the same answer later; otherwise the nonce may be used again.
void Refuse(Core& core, const SubmitOptions& options, const Error& why, bool remember, Answered done) {
  ExecutorLock held(core);
  if (options.nonce.valid()) {
    const auto key = KeyOf(options.nonce);
    AnswerAll(held, remember ? held->nonces.Refuse(key, why, core.deps.clock.Now()) : held->nonces.Withdraw(key), why);
  }
  held.Later([done = std::move(done), why] { done(why); });
  held.Finish();
}

void Insert(Core& core, ProcedurePtr procedure, const SubmitOptions& options, Answered done) {
  std::unique_ptr<FoundLocks> wanted = WantedBy(procedure.get(), core.options);
  ExecutorLock held(core);
  if (held->stopping || held->halted) {
    held.Later([done = std::move(done)] { done(Error(Code::kUnavailable, "the executor has stopped")); });
    held.Finish();
    return;
  }
  std::unique_ptr<ProcNode> made = MakeRoot(held, std::move(procedure), options);
  KeepWanted(*made, std::move(wanted));
  TryGrant(held, *made);
  held->inserting.insert(made->id.pid);
  auto task = held.NewTask();
  task->nodes.push_back(std::move(made));
  task->published = [nonce = options.nonce, done = std::move(done)](ExecutorLock& inner, CommitTask& stored) mutable {
    if (const Status may = HitFault("executor.submit_committed", stored.nodes.front()->id.type); !may.ok()) {
      inner.Halt(may.error());
      return;
    }
    ProcNode& added = Adopt(inner, std::move(stored.nodes.front()));
    inner->inserting.erase(added.id.pid);
    const Result<ProcId> answer(added.id.pid);
    if (nonce.valid()) AnswerAll(inner, inner->nonces.Give(KeyOf(nonce), added.id.pid), answer);
    inner.Later([call = std::move(done), pid = added.id.pid] { call(pid); });
    ArmDeadline(inner, added);
    SetNextAction(added, ToRunAgain{});  // after those that came before
    inner.Ready(added);
  };
  held.Commit(std::move(task));
  held.Finish();
}

void AnswerAll(ExecutorLock& held, std::vector<NonceTable::Answer> waiters, const Result<ProcId>& answer) {
  for (auto& waiter : waiters) {
    held.Later([waiter = std::move(waiter), answer] { waiter(answer); });
  }
}

}  // namespace

}  // namespace ratchet::procedure
