// ReplicationKeeper: what replication needs of the master from time to time.
//
// It has the table hbase:replication made when there is a peer, in which region servers keep how far they are; has the
// logs of a dead server retired when its claimer says that nothing is left; and has another server claim them when the
// claimer has died. Each is an ordinary procedure, one of a type at a time. Thread-safe; never blocks.
#pragma once

#include <atomic>

#include "master/env/master_env.h"
#include "procedure/author/procedure.h"

namespace ratchet::master {

class ReplicationKeeper {
 public:
  explicit ReplicationKeeper(MasterEnv& env) : env_(env) {}
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
