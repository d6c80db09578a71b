// One life of a simulated master: the real logic and the real executor on the simulated world, single-threaded. It ends
// when its store dies (at a chosen commit, or because a younger master has claimed); its messages stay on the network.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "master/startup/master_logic.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/worker_pool.h"
#include "tests/support/crash_store.h"
#include "tests/support/master_world/sim_storage.h"

namespace ratchet::sim {

class SimCluster;

class SimMaster {
 public:
  SimMaster(SimCluster& cluster, testing::CrashPlan plan, const master::MasterOptions& options);
  ~SimMaster();

  // Runs the start-up steps up to the workers' start; then meta is loaded while time advances. An error: it is dead.
  Status Activate();
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] bool dead() const { return store_.dead(); }
  // It is dead, or a younger master has claimed the store.
  [[nodiscard]] bool deposed() { return !store_.Check().ok(); }
  bool RunOne();
  // The logic calls something outside, maybe from within a step: other workers may do a step meanwhile.
  void Point();
  [[nodiscard]] bool AllFinished() const;
  [[nodiscard]] std::string Unfinished() const;  // one line for each, for messages

  master::MasterLogic& logic() { return logic_; }
  procedure::Executor& executor() { return *executor_; }
  testing::CrashStore& store() { return store_; }
  master::MetaTable& meta_table();
  [[nodiscard]] Epoch epoch() const { return executor_->epoch(); }

  // Blocking helpers for tests: run the cluster until the answer is there.
  Result<ProcId> Ask(const std::function<void(master::TableAdmin::Done)>& request);

 private:
  class Meta;
  class Orders;
  class Live;
  class Ticks;
  class Actions;

  SimCluster& cluster_;
  testing::CrashStore store_;
  procedure::ProcedureRegistry registry_;
  procedure::ManualWorkers workers_;
  SimFiles files_;
  std::unique_ptr<Meta> meta_;
  std::unique_ptr<Orders> orders_;
  std::unique_ptr<Live> live_;
  std::unique_ptr<Ticks> ticks_;
  std::unique_ptr<Actions> actions_;
  master::MasterLogic logic_;
  std::unique_ptr<procedure::Executor> executor_;
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  bool ready_ = false;
  bool at_point_ = false;
};

}  // namespace ratchet::sim
