#include "procedure/core.h"

#include "common/base/fault_point.h"
#include "common/base/log.h"

namespace ratchet::procedure {

// The analysis cannot follow a lock that lives as long as an object of a class with other members.
Session::Session(Core& core) NO_THREAD_SAFETY_ANALYSIS : core_(core) { core_.mutex_.Lock(); }

Session::~Session() NO_THREAD_SAFETY_ANALYSIS {
  Core& core = core_;
  if (!commits_.empty()) core.state_.commits_in_flight += commits_.size();
  core.mutex_.Unlock();
  for (PendingCommit& commit : commits_) Send(core, std::move(commit));
  for (; notify_ > 0; --notify_) core.deps.workers.Notify(false);
  for (; notify_urgent_ > 0; --notify_urgent_) core.deps.workers.Notify(true);
  for (auto& call : calls_) call();
}

void Session::Commit(StoreBatch batch, std::string fault_detail, std::function<void(Session&)> published) {
  if (core_.state_.halted) return;
  commits_.push_back({std::move(batch), std::move(fault_detail), std::move(published)});
}

void Session::Send(Core& core, PendingCommit commit) {
  Status may = Ok();
  if (!commit.fault_detail.empty()) may = HitFault("executor.before_commit", commit.fault_detail);
  if (!may.ok()) {
    Session session(core);
    --session->commits_in_flight;
    session.Halt(may.error());
    return;
  }
  core.deps.store.Commit(
      std::move(commit.batch), [alive = core.shared_from_this(), detail = std::move(commit.fault_detail),
                                published = std::move(commit.published)](Result<std::uint64_t> sequence) {
        Status after = Ok();
        if (sequence.ok() && !detail.empty()) after = HitFault("executor.after_commit", detail);
        Session session(*alive);
        --session->commits_in_flight;
        alive->quiet_.NotifyAll();
        if (session->halted) return;
        if (!sequence.ok()) {
          session.Halt(sequence.error());
        } else if (!after.ok()) {
          session.Halt(after.error());
        } else {
          published(session);
        }
      });
}

void Session::WaitUntil(const std::function<bool()>& done) NO_THREAD_SAFETY_ANALYSIS {
  while (!done()) core_.quiet_.WaitFor(core_.mutex_, std::chrono::milliseconds(50));
}

void Session::Halt(const Error& why) {
  if (core_.state_.halted) return;
  core_.state_.halted = true;
  RATCHET_LOG(kError, "procedure store failed, nothing is completed any more: {}", why.ToString());
  if (core_.options.on_store_failure) {
    Later([callback = core_.options.on_store_failure, why] { callback(why); });
  }
}

}  // namespace ratchet::procedure
