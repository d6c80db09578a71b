// One commit on its way from a session to the store and back: what to store, and what to do once it is durable.
//
// A thread that fills a task in under the lock leaves it alone afterwards: until it is published nothing changes what
// it commits, so the records are encoded after the lock is gone.
#pragma once

#include <memory>
#include <vector>

#include "common/base/unique_function.h"
#include "procedure/record/durable_record.h"
#include "procedure/session/proc_node.h"
#include "procedure/store/procedure_store.h"

namespace ratchet::procedure {

class Core;
class Session;

// The step or undo whose outcome is committed: its name is the detail of the fault points around the commit.
struct CommitPoint {
  StepNo step = 0;  // 0: none; no fault point is hit
  bool undo = false;
};

struct CommitTask {
  // Empty again, but for the memory that it has got.
  void Reset() {
    batch = StoreBatch();
    point = CommitPoint();
    node = nullptr;
    if (WantOf(intent) != Want::kRun) intent = ToRun{};
    nodes.clear();
    system_puts.clear();
    system_deletes.clear();
    published = nullptr;
  }

  StoreBatch batch;
  CommitPoint point;
  ProcNode* node = nullptr;                      // whose next state it is: stored before everything else
  Durable next;                                  // after it is shown: the state before
  Intent intent;                                 // of a step: what the node wants once it is shown
  std::vector<std::unique_ptr<ProcNode>> nodes;  // new ones, not in the tree yet: stored behind the batch's own records
  std::vector<SystemPut> system_puts;            // of the batch, for memory
  std::vector<std::string> system_deletes;
  // In a session of its own.
  UniqueFunction<void(Session&, CommitTask&)> published;
  std::shared_ptr<Core> core;  // while it is with the store
};

}  // namespace ratchet::procedure
