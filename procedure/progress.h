// What a procedure does next when it is free, and how it waits. Every part comes through here, so "one thing at a time per
// procedure" has one place.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "procedure/core.h"

namespace ratchet::procedure {

// The node has just become free (or is new): starts whatever comes first of report, abort, undo, and what it wants.
void Settle(Session& session, ProcNode& node);

// Makes the node busy with the task, whose `next` (and batch) it stores. Its `published` begins with ShowStored.
void BeginStore(ProcNode& node, CommitTask& task, CommitPoint point);
// What the task has stored is the node's durable state now, and the system's records.
ProcNode& ShowStored(Session& session, CommitTask& task);

// Makes the node busy, stores `next` (and `extra`), then shows it and calls `then`, which ends with Settle, directly or through
// others.
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

// Goes on with procedures that the lock manager has just served.
void ServeGranted(Session& session, const std::vector<ProcId>& granted);

// Ends an Await, a Once or a backoff early. False: it was in none.
bool EndWait(Session& session, ProcNode& node, bool timed_out);

// The same for a node that is free: what it waits for has lost its meaning, it wants to run. Does not settle.
void CutWaitShort(Session& session, ProcNode& node);

// Starts the backoff `node.delay` before the next try of an undo.
void WaitForBackoff(Session& session, ProcNode& node);

// Out of every line, queue and wait; the node must not be busy.
void LeaveEverything(Session& session, ProcNode& node);

// Marks whether `node` keeps locks of succeeded children (S16), and counts those who do.
void SetKeeps(Session& session, ProcNode& node, bool keeps);

// Forgets what belongs to the current step only: attempt, error, asynchronous work.
void ResetStep(ProcNode& node);
// Of that only how often it was tried, and why.
void ForgetRuns(ProcNode& node);

// Puts the node into the run queue.
void Enqueue(Session& session, ProcNode& node, bool front);

// Gives a new node its place in the scheduler.
void BindToScheduler(Session& session, ProcNode& node);

// The durable state is final: counts, tells listeners and those who wait, wakes the parent.
void Finish(Session& session, ProcNode& node);

// Removes a finished subtree below `node` from memory; appends the pids, children before parents.
void RemoveDescendants(Session& session, ProcNode& node);
[[nodiscard]] std::vector<ProcId> DescendantsToDelete(ProcNode& node);

// Children before anything else: a record as the store wants it.
[[nodiscard]] ProcedureUpsert UpsertOf(const ProcNode& node, const Durable& durable);

// "CreateTable:ADD_TO_META"
[[nodiscard]] std::string FaultDetail(const ProcNode& node, StepNo step, bool undo);

}  // namespace ratchet::procedure
