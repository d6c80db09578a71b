#include "procedure/engine/node_commit.h"

#include <utility>

#include "common/base/check.h"

namespace ratchet::procedure {

void BeginStore(ProcNode& node, CommitTask& task, CommitPoint point) {
  RATCHET_CHECK(task.next.version == node.durable.version + 1, "pid {}: version {} after {}", node.id.pid,
                task.next.version, node.durable.version);
  RATCHET_CHECK(node.phase != Phase::kCommitting, "pid {} has a commit in flight (S11)", node.id.pid);
  ProcedureTree::SetPhase(node, Phase::kCommitting);
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
