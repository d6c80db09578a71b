#include "procedure/core.h"

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "procedure/progress.h"

namespace ratchet::procedure {

namespace {

// Children behind their parent's record, as the store wants it.
void EncodeRecords(CommitTask& task) {
  std::vector<ProcedureUpsert>& upserts = task.batch.upserts;
  if (task.node != nullptr) upserts.insert(upserts.begin(), UpsertOf(*task.node, task.next));
  for (const auto& node : task.nodes) upserts.push_back(UpsertOf(*node, node->durable));
}

Status HitCommitFault(std::string_view name, const CommitTask& task) {
  if (task.point.step == 0 || task.node == nullptr || !FaultPoints::Instance().armed()) return Ok();
  return HitFault(name, FaultDetail(*task.node, task.point.step, task.point.undo));
}

}  // namespace

void Session::LeaveAndSend() NO_THREAD_SAFETY_ANALYSIS {
  Core& core = core_;
  if (first_commit_ != nullptr) core.state_.commits_in_flight += 1 + more_commits_.size();
  core.mutex_.Unlock();
  if (first_commit_ != nullptr) Send(core, std::move(first_commit_));
  for (auto& task : more_commits_) Send(core, std::move(task));
  for (; notify_ > 0; --notify_) core.deps.workers.Notify(false);
  for (; notify_urgent_ > 0; --notify_urgent_) core.deps.workers.Notify(true);
  for (auto& call : calls_) call();
}

void Session::Commit(std::shared_ptr<CommitTask> task) {
  if (core_.state_.halted) {
    core_.state_.unpublished.push_back(std::move(task));
  } else if (first_commit_ == nullptr) {
    first_commit_ = std::move(task);
  } else {
    more_commits_.push_back(std::move(task));
  }
}

void Session::Send(Core& core, std::shared_ptr<CommitTask> task) {
  task->core = core.shared_from_this();
  if (Status may = HitCommitFault("executor.before_commit", *task); !may.ok()) {
    Completed(std::move(task), may.error());
    return;
  }
  EncodeRecords(*task);
  StoreBatch batch = std::move(task->batch);
  if (RATCHET_MUTANT("procedure.act_before_commit")) {
    core.deps.store.Commit(std::move(batch), [](const Result<std::uint64_t>&) {});
    Completed(std::move(task), std::uint64_t{0});
    return;
  }
  core.deps.store.Commit(std::move(batch), [task = std::move(task)](const Result<std::uint64_t>& sequence) mutable {
    if (!sequence.ok()) {
      Completed(std::move(task), sequence);
      return;
    }
    const Status after = HitCommitFault("executor.after_commit", *task);
    Completed(std::move(task), after.ok() ? sequence : Result<std::uint64_t>(after.error()));
  });
}

void Session::Completed(std::shared_ptr<CommitTask> task, const Result<std::uint64_t>& sequence) {
  const std::shared_ptr<Core> alive = std::move(task->core);
  Session session(*alive);
  --session->commits_in_flight;
  if (session->stopping) {
    MutexLock quiet(alive->quiet_mutex_);
    alive->quiet_.NotifyAll();
  }
  if (!session->halted && sequence.ok()) {
    task->published(session, *task);
    if (session->halted) session->unpublished.push_back(std::move(task));
    return;
  }
  session->unpublished.push_back(std::move(task));
  if (!sequence.ok()) session.Halt(sequence.error());
}

void Session::WaitUntil(const std::function<bool()>& done) NO_THREAD_SAFETY_ANALYSIS {
  while (!done()) {
    core_.quiet_mutex_.Lock();
    core_.mutex_.Unlock();
    core_.quiet_.WaitFor(core_.quiet_mutex_, std::chrono::milliseconds(50));
    core_.quiet_mutex_.Unlock();
    core_.mutex_.Lock();
  }
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
