// One commit on its way from a lock holder to the store and back: the batch to store, and what to do once it is
// durable.
//
// A thread that fills a task in under the lock does not touch it afterwards. The committed data does not change before
// it is published, so the records are encoded after the lock is released.
#pragma once

#include <memory>
#include <vector>

#include "common/base/unique_function.h"
#include "procedure/api/store.h"
#include "procedure/core/node.h"
#include "procedure/core/record.h"

namespace ratchet::procedure {

class Core;
class ExecutorLock;

// The step or undo whose outcome is committed: its name is the detail of the fault points around the commit.
struct CommitPoint {
  StepNo step = 0;  // 0: none; no fault point is hit
  bool undo = false;
};

struct CommitTask {
  // Makes the task empty again, but keeps its memory.
  void Reset() {
    batch = StoreBatch();
    point = CommitPoint();
    node = nullptr;
    if (KindOf(next_action) != NextActionKind::kRun) next_action = ToRun{};
    nodes.clear();
    system_puts.clear();
    system_deletes.clear();
    published = nullptr;
  }

  StoreBatch batch;
  CommitPoint point;
  ProcNode* node = nullptr;                      // whose next state it is: stored before everything else
  Durable next;                                  // after ShowStored: the state before
  NextAction next_action;                        // for a step: the node's next action once the commit is shown
  std::vector<std::unique_ptr<ProcNode>> nodes;  // new nodes, not in the tree yet: stored after the batch's own records
  std::vector<SystemPut> system_puts;            // the batch's vector, kept to reuse its memory
  std::vector<std::string> system_deletes;
  // Called under a lock of its own.
  UniqueFunction<void(ExecutorLock&, CommitTask&)> published;
  std::shared_ptr<Core> core;  // set while the store has the task
};

}  // namespace ratchet::procedure
