// The next durable state of one procedure on its way to the store and back: "one commit in flight per procedure" (S11)
// has its place here.
#pragma once

#include <utility>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Makes the node busy with the task, whose `next` (and batch) it stores. Its `published` begins with ShowStored.
void BeginStore(ProcNode& node, CommitTask& task, CommitPoint point);
// What the task has stored is the node's durable state now, and the system's records.
ProcNode& ShowStored(Session& session, CommitTask& task);

// Makes the node busy, stores `next` (and `extra`), then shows it and calls `then`, which says
// how the node goes on: Session::Ready, or it is busy again.
template <class Then>
void StoreThen(Session& session, ProcNode& node, Durable next, StoreBatch extra, CommitPoint point, Then then) {
  auto task = session.NewTask();
  task->next = std::move(next);
  task->batch = std::move(extra);
  BeginStore(node, *task, point);
  task->published = [call = std::move(then)](Session& inner, CommitTask& stored) mutable {
    ProcNode& shown = ShowStored(inner, stored);
    call(inner, shown);
  };
  session.Commit(std::move(task));
}

}  // namespace ratchet::procedure
