// What a worker does: takes the next procedure, runs one step or undo, hands the outcome to the store, and is free again.
#pragma once

#include "procedure/core.h"
#include "procedure/worker_pool.h"

namespace ratchet::procedure {

class StepRunner final : public WorkSource {
 public:
  explicit StepRunner(Core& core) : core_(core) {}
  bool RunNext(const WorkerInfo& worker) override;

 private:
  Core& core_;
};

}  // namespace ratchet::procedure
