#include "procedure/engine/executor_lock.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/base/check.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "procedure/core/node.h"

namespace ratchet::procedure {

namespace {

// Adds what the earlier outcomes of the commit store. A procedure that a later outcome stores again, or deletes, is
// left out.
void EncodeEarlier(CommitTask& task) {
  std::vector<ProcId>& deletes = task.batch.deletes;
  for (const auto& earlier : task.before) {
    deletes.insert(deletes.end(), earlier->batch.deletes.begin(), earlier->batch.deletes.end());
  }
  std::sort(deletes.begin(), deletes.end());
  deletes.erase(std::unique(deletes.begin(), deletes.end()), deletes.end());
  std::vector<const ProcNode*> later{task.node};
  for (std::size_t i = task.before.size(); i > 0; --i) {
    const CommitTask& earlier = *task.before[i - 1];
    const bool again = std::find(later.begin(), later.end(), earlier.node) != later.end();
    if (again || std::binary_search(deletes.begin(), deletes.end(), earlier.node->id.pid)) continue;
    later.push_back(earlier.node);
    task.batch.upserts.push_back(UpsertOf(*earlier.node, earlier.next));
  }
}

// Children follow their parent's record, as the store requires.
void EncodeRecords(CommitTask& task) {
  if (!task.before.empty()) EncodeEarlier(task);
  std::vector<ProcedureUpsert>& upserts = task.batch.upserts;
  if (task.node != nullptr) upserts.insert(upserts.begin(), UpsertOf(*task.node, task.next));
  for (const auto& node : task.nodes) upserts.push_back(UpsertOf(*node, node->durable));
}

// About the number that workers take while the store completes one group.
constexpr std::size_t kSpareTasks = 4096;

// Number of tasks of a group that are published under one lock: more would keep others waiting for the lock.
constexpr std::size_t kPublishedTogether = 32;

// The executor whose calls this thread is in.
struct CallFrame {
  const Core* core;
  const CallFrame* outer;
};
thread_local const CallFrame* innermost_call = nullptr;

// Catches exceptions of foreign code: the other pending calls must not be affected. Returns false if the code has
// thrown.
bool Guarded(std::string_view what, UniqueFunction<void()>& call) {
  try {
    call();
    return true;
  } catch (const std::exception& e) {
    RATCHET_LOG(kError, "{} has thrown: {}", what, e.what());
  } catch (...) {
    RATCHET_LOG(kError, "{} has thrown an exception that is not a std::exception", what);
  }
  return false;
}

Status HitCommitFault(std::string_view name, const CommitTask& task) {
  for (const auto& earlier : task.before) RATCHET_TRY(HitCommitFault(name, *earlier));
  if (task.point.step == 0 || task.node == nullptr || !FaultPoints::Instance().armed()) return Ok();
  return HitFault(name, FaultDetail(*task.node, task.point.step, task.point.undo));
}

}  // namespace

// An exception has left the scope before Finish: what was queued is sent all the same, because a node whose commit is
// never sent would stay busy.
void ExecutorLock::FinishUnwinding() noexcept {
  RATCHET_CHECK(std::uncaught_exceptions() > 0, "the executor's lock goes out of scope without Finish");
  Finish();
}

void ExecutorLock::LeaveAndSend() {
  Core& core = core_;
  if (first_commit_ != nullptr) core_.state_.commits_in_flight += 1 + more_commits_.size();
  std::vector<Notification> notifications = DrainNotifications();
  const bool calls = !notifications.empty() || !calls_.empty();
  if (calls) core.calling_.fetch_add(1);
  core_.Leave();
  if (first_commit_ != nullptr) Send(core, std::move(first_commit_));
  for (auto& task : more_commits_) Send(core, std::move(task));
  if (notify_) core.deps.workers.Notify(false);
  if (notify_urgent_) core.deps.workers.Notify(true);
  if (!calls) return;
  const CallFrame frame{&core, innermost_call};
  innermost_call = &frame;
  Deliver(core, std::move(notifications));
  for (auto& call : calls_) Guarded("a callback", call);
  calls_.clear();
  innermost_call = frame.outer;
  core.calling_.fetch_sub(1);
  if (!core.stop_waits_) return;
  MutexLock quiet(core.quiet_mutex_);
  core.quiet_.NotifyAll();
}

// Returns none while another thread delivers notifications: that thread delivers these too.
std::vector<Notification> ExecutorLock::DrainNotifications() {
  CoreState& now = state();
  if (now.notifications.empty() || now.delivering) return {};
  now.delivering = true;
  return std::exchange(now.notifications, {});
}

void ExecutorLock::Deliver(Core& core, std::vector<Notification> notifications) {
  std::vector<std::string> failed;  // types
  while (!notifications.empty()) {
    for (Notification& notice : notifications) {
      if (!Guarded("a hook or listener of " + notice.type, notice.call)) failed.push_back(std::move(notice.type));
    }
    notifications.clear();
    ExecutorLock held(core);
    for (const std::string& type : std::exchange(failed, {})) held->metrics.HookFailed(type);
    held->delivering = false;
    notifications = held.DrainNotifications();
    held.Finish();
  }
}

bool ExecutorLock::InCallOf(const Core& core) {
  for (const CallFrame* frame = innermost_call; frame != nullptr; frame = frame->outer) {
    if (frame->core == &core) return true;
  }
  return false;
}

bool ExecutorLock::CallsAreOver() {
  core_.stop_waits_ = true;
  return InCallOf(core_) || core_.calling_ == 0;
}

void ExecutorLock::Ready(ProcNode& node) {
  RATCHET_CHECK(!IsBusy(node.phase), "pid {} is busy", node.id.pid);
  if (node.phase == Phase::kQueued) state().scheduler.Remove(node.sched);
  ProcedureTree::SetPhase(node, Phase::kFree);
  state().ready.Add(node.ready);
}

std::unique_ptr<CommitTask> ExecutorLock::NewTask() {
  auto& spare = state().spare_tasks;
  if (spare.empty()) return std::make_unique<CommitTask>();
  std::unique_ptr<CommitTask> task = std::move(spare.back());
  spare.pop_back();
  return task;
}

void ExecutorLock::Recycle(std::unique_ptr<CommitTask> task) {
  if (state().spare_tasks.size() >= kSpareTasks) return;
  task->Reset();
  state().spare_tasks.push_back(std::move(task));
}

void ExecutorLock::Commit(std::unique_ptr<CommitTask> task) {
  if (state().halted) {
    state().unpublished.push_back(std::move(task));
  } else if (first_commit_ == nullptr) {
    first_commit_ = std::move(task);
  } else {
    more_commits_.push_back(std::move(task));
  }
}

void ExecutorLock::Send(Core& core, std::unique_ptr<CommitTask> task) {
  task->core = core.shared_from_this();
  if (Status may = HitCommitFault("executor.before_commit", *task); !may.ok()) {
    Failed(std::move(task), may.error());
    return;
  }
  EncodeRecords(*task);
  StoreBatch batch = std::move(task->batch);
  if (RATCHET_MUTANT("procedure.act_before_commit")) {
    core.deps.store.Commit(std::move(batch), [](const Result<std::uint64_t>&) {});
    PublishAlone(std::move(task));
    return;
  }
  core.deps.store.Commit(std::move(batch), [task = std::move(task)](const Result<std::uint64_t>& sequence) mutable {
    if (!sequence.ok()) {
      Failed(std::move(task), sequence.error());
      return;
    }
    const Status after = HitCommitFault("executor.after_commit", *task);
    if (after.ok()) {
      Landed(std::move(task));
    } else {
      Failed(std::move(task), after.error());
    }
  });
}

void ExecutorLock::FollowGroups(const std::shared_ptr<Core>& core) {
  core->groups_ = core->deps.store.AnnounceGroups([weak = std::weak_ptr<Core>(core)] {
    if (const std::shared_ptr<Core> alive = weak.lock()) Publish(*alive, std::exchange(alive->landed_, {}));
  });
}

void ExecutorLock::Landed(std::unique_ptr<CommitTask> task) {
  if (!task->core->groups_) {
    PublishAlone(std::move(task));
    return;
  }
  const std::shared_ptr<Core> core = std::move(task->core);
  core->landed_.push_back(std::move(task));
  if (core->landed_.size() >= kPublishedTogether) Publish(*core, std::exchange(core->landed_, {}));
}

void ExecutorLock::PublishAlone(std::unique_ptr<CommitTask> task) {
  const std::shared_ptr<Core> core = std::move(task->core);
  std::vector<std::unique_ptr<CommitTask>> alone;
  alone.push_back(std::move(task));
  Publish(*core, std::move(alone));
}

// Completes the tasks under one lock, and frees their members after it.
void ExecutorLock::Publish(Core& core, std::vector<std::unique_ptr<CommitTask>> tasks) {
  if (tasks.empty()) return;
  ExecutorLock held(core);
  held.CountCompleted(tasks.size());
  for (auto& task : tasks) {
    held.PublishTask(*task);
    if (held->halted) {
      held->unpublished.push_back(std::move(task));
    } else if (held->spare_tasks.size() < kSpareTasks) {
      held.Recycle(std::move(task));
    }
  }
  held.Finish();
}

void ExecutorLock::PublishTask(CommitTask& task) {
  const ProcNode* last = task.before.empty() ? nullptr : task.before.front()->node;
  for (const auto& earlier : task.before) {
    if (earlier->node != last) Drain();  // a child ends before its parent continues and removes it
    last = earlier->node;
    if (!state().halted) earlier->published(*this, *earlier);
  }
  if (last != nullptr && task.node != last) Drain();
  if (!state().halted) task.published(*this, task);
}

void ExecutorLock::Failed(std::unique_ptr<CommitTask> task, const Error& why) {
  const std::shared_ptr<Core> alive = std::move(task->core);
  ExecutorLock held(*alive);
  held.CountCompleted(1);
  held->unpublished.push_back(std::move(task));
  held.Halt(why);
  held.Finish();
}

void ExecutorLock::CountCompleted(std::size_t commits) {
  state().commits_in_flight -= commits;
  if (!state().stopping) return;
  MutexLock quiet(core_.quiet_mutex_);
  core_.quiet_.NotifyAll();
}

void ExecutorLock::WaitUntil(const std::function<bool()>& done) {
  AssertHeld();
  while (!done()) {
    core_.quiet_mutex_.Lock();
    core_.Leave();
    core_.quiet_.WaitFor(core_.quiet_mutex_, std::chrono::milliseconds(50));
    core_.quiet_mutex_.Unlock();
    core_.Enter();
  }
}

void ExecutorLock::Halt(const Error& why) {
  if (state().halted) return;
  state().halted = true;
  RATCHET_LOG(kError, "procedure store failed, no commit is completed from now on: {}", why.ToString());
  if (core_.options.on_store_failure) {
    Later([callback = core_.options.on_store_failure, why] { callback(why); });
  }
}

void BeginStore(ProcNode& node, CommitTask& task, CommitPoint point) {
  RATCHET_CHECK(task.next.version == node.durable.version + 1, "pid {}: version {} after {}", node.id.pid,
                task.next.version, node.durable.version);
  RATCHET_CHECK(node.phase != Phase::kCommitting, "pid {} has a commit in flight (S11)", node.id.pid);
  ProcedureTree::SetPhase(node, Phase::kCommitting);
  JoinStore(node, task, point);
}

void JoinStore(ProcNode& node, CommitTask& task, CommitPoint point) {
  task.system_puts = task.batch.system_puts;
  task.system_deletes = task.batch.system_deletes;
  task.point = point;
  task.node = &node;
}

ProcNode& ShowStored(ExecutorLock& held, CommitTask& task) {
  for (SystemPut& put : task.system_puts) held->system_records[put.key] = std::move(put.value);
  for (const std::string& key : task.system_deletes) held->system_records.erase(key);
  std::swap(task.node->durable, task.next);
  ProcedureTree::SetPhase(*task.node, Phase::kFree);
  return *task.node;
}

}  // namespace ratchet::procedure
