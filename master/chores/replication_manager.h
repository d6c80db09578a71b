// ReplicationManager: the master's periodic work for replication.
//
// It creates the table hbase:replication, in which region servers keep their positions, when a peer exists. It has the
// logs of a dead server retired when their claimer reports that all are shipped, and has another server claim them when
// the claimer dies. Each is an ordinary procedure, one of a type at a time. Thread-safe; never blocks.
#pragma once

#include <atomic>

#include "master/procedures/core/master_env.h"
#include "procedure/api/procedure.h"

namespace ratchet::master {

class ReplicationManager {
 public:
  explicit ReplicationManager(MasterEnv& env) : env_(env) {}
  // Call every second.
  void Tick();

 private:
  void MakeTable();
  void LookAfterQueues();
  void Submit(procedure::ProcedurePtr procedure);

  MasterEnv& env_;
  std::atomic<bool> submitting_{false};
};

}  // namespace ratchet::master
