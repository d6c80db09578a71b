#include "procedure/engine/submitter.h"

#include <memory>
#include <utility>
#include <vector>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/children.h"
#include "procedure/engine/deadline.h"

namespace ratchet::procedure {
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
  ExecutorLock held(core);
  if (held->stopping || held->halted) {
    held.Later([done = std::move(done)] { done(Error(Code::kUnavailable, "the executor has stopped")); });
    held.Finish();
    return;
  }
  std::unique_ptr<ProcNode> made = MakeRoot(held, std::move(procedure), options);
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
