// The loop of a worker: takes a procedure, runs one step or undo, hands the outcome to the store, and takes the next.
#pragma once

#include "procedure/api/worker_pool.h"
#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

class StepRunner final : public WorkSource {
 public:
  explicit StepRunner(Core& core) : core_(core) {}
  std::size_t Run(const WorkerInfo& worker, std::size_t at_most) override;

 private:
  Core& core_;
};

}  // namespace ratchet::procedure
