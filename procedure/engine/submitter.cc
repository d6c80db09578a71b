#include "procedure/engine/submitter.h"

#include <memory>
#include <utility>
#include <vector>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "procedure/author/author_call.h"
#include "procedure/engine/children.h"

namespace ratchet::procedure {
namespace {

using Answered = std::function<void(Result<ProcId>)>;

NonceTable::Key KeyOf(const Nonce& nonce) { return {nonce.group, nonce.nonce}; }

// In the order of a submission.
bool Reserve(Core& core, const SubmitOptions& options, Answered& done);
void Refuse(Core& core, const SubmitOptions& options, const Error& why, bool remember, Answered done);
void Insert(Core& core, ProcedurePtr procedure, const SubmitOptions& options, Answered done);
void AnswerAll(Session& session, std::vector<NonceTable::Answer> waiters, const Result<ProcId>& answer);

}  // namespace

void SubmitAsync(Core& core, ProcedurePtr procedure, SubmitOptions options, Answered done) {
  if (!Reserve(core, options, done)) return;
  Status sound = CheckNew(core.deps.registry, procedure.get());
  if (!sound.ok()) {
    Refuse(core, options, sound.error(), /*remember=*/true, std::move(done));
    return;
  }
  if (options.pre_check) {
    if (Status pre = CallAuthor(options.pre_check); !pre.ok()) {
      Refuse(core, options, pre.error(), /*remember=*/true, std::move(done));
      return;
    }
  }
  // Without an owner: the host's own work, such as handling a crash (S60).
  const bool must_pass = options.owner.empty() && !RATCHET_MUTANT("procedure.refuse_own_work");
  if (Status room = must_pass ? Ok() : core.deps.store.Admit(); !room.ok()) {
    Refuse(core, options, room.error(), /*remember=*/false, std::move(done));
    return;
  }
  Insert(core, std::move(procedure), options, std::move(done));
}

namespace {

// True: this submission goes on. False: it was answered, or waits for the first one with the same nonce.
bool Reserve(Core& core, const SubmitOptions& options, Answered& done) {
  Session session(core);
  if (!session->recovered || session->stopping || session->halted) {
    session.Later([done = std::move(done)] { done(Error(Code::kUnavailable, "the executor does not take requests")); });
    return false;
  }
  if (!options.nonce.valid()) return true;
  NonceTable::Reservation reservation = session->nonces.Reserve(KeyOf(options.nonce), done);
  if (reservation.answer) {
    session.Later([done = std::move(done), answer = *std::move(reservation.answer)] { done(answer); });
  }
  return reservation.first;
}

// `remember`: the same nonce gets the same answer later; else it may try again.
void Refuse(Core& core, const SubmitOptions& options, const Error& why, bool remember, Answered done) {
  Session session(core);
  if (options.nonce.valid()) {
    const auto key = KeyOf(options.nonce);
    AnswerAll(session,
              remember ? session->nonces.Refuse(key, why, core.deps.clock.Now()) : session->nonces.Withdraw(key), why);
  }
  session.Later([done = std::move(done), why] { done(why); });
}

void Insert(Core& core, ProcedurePtr procedure, const SubmitOptions& options, Answered done) {
  Session session(core);
  if (session->stopping || session->halted) {
    session.Later([done = std::move(done)] { done(Error(Code::kUnavailable, "the executor has stopped")); });
    return;
  }
  std::unique_ptr<ProcNode> made = MakeRoot(session, std::move(procedure), options);
  TryGrant(session, *made);
  session->inserting.insert(made->id.pid);
  auto task = session.NewTask();
  task->nodes.push_back(std::move(made));
  task->published = [nonce = options.nonce, done = std::move(done)](Session& inner, CommitTask& stored) mutable {
    if (const Status may = HitFault("executor.submit_committed", stored.nodes.front()->id.type); !may.ok()) {
      inner.Halt(may.error());
      return;
    }
    ProcNode& added = Adopt(inner, std::move(stored.nodes.front()));
    inner->inserting.erase(added.id.pid);
    const Result<ProcId> answer(added.id.pid);
    if (nonce.valid()) AnswerAll(inner, inner->nonces.Give(KeyOf(nonce), added.id.pid), answer);
    inner.Later([call = std::move(done), pid = added.id.pid] { call(pid); });
    SetIntent(added, ToRunAgain{});  // behind those that came before
    inner.Ready(added);
  };
  session.Commit(std::move(task));
}

void AnswerAll(Session& session, std::vector<NonceTable::Answer> waiters, const Result<ProcId>& answer) {
  for (auto& waiter : waiters) {
    session.Later([waiter = std::move(waiter), answer] { waiter(answer); });
  }
}

}  // namespace

}  // namespace ratchet::procedure
