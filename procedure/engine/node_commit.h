// Stores the next durable state of one procedure and shows it once it is durable. Enforces S11 (one commit per pid).
#pragma once

#include <utility>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Makes the node busy, and stores CommitTask::next and the task's batch. CommitTask::published begins with ShowStored.
void BeginStore(ProcNode& node, CommitTask& task, CommitPoint point);
// Applies the stored state: makes it the node's durable state, and updates the system records.
ProcNode& ShowStored(ExecutorLock& held, CommitTask& task);

// Makes the node busy, stores `next` (and `extra`), then shows it and calls `then`. `then` decides how the node
// continues: it calls ExecutorLock::Ready or makes the node busy again.
template <class Then>
void StoreThen(ExecutorLock& held, ProcNode& node, Durable next, StoreBatch extra, CommitPoint point, Then then) {
  auto task = held.NewTask();
  task->next = std::move(next);
  task->batch = std::move(extra);
  BeginStore(node, *task, point);
  task->published = [call = std::move(then)](ExecutorLock& inner, CommitTask& stored) mutable {
    ProcNode& shown = ShowStored(inner, stored);
    call(inner, shown);
  };
  held.Commit(std::move(task));
}

}  // namespace ratchet::procedure
