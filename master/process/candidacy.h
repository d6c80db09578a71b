// Candidacy: a master's part in the election. It stands, waits until it is elected, shows which master is active
// meanwhile, and knows the other masters that wait.
//
// Owned by the process. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/exit_latch.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "common/rpc/channel_pool.h"
#include "common/zk/master_election.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/rpc/master_gate.h"

namespace ratchet::master {

class Candidacy {
 public:
  // `end` ends the process with a code and a reason. Both outlive this object.
  using End = std::function<void(int code, const std::string& why)>;
  Candidacy(ExitLatch& exit, End end) : exit_(exit), end_(std::move(end)) {}
  Candidacy(const Candidacy&) = delete;
  Candidacy& operator=(const Candidacy&) = delete;

  struct Deps {
    zk::ZkSession& session;
    const zk::ZkPaths& paths;
    MasterGate& gate;
    rpc::ChannelPool& channels;
    zk::MasterNode self;
    std::string cluster_id;
    std::string root;
    // Which other master is active. May be empty.
    std::function<void(const std::optional<ServerName>&)> follow{};
  };
  // The parts that `deps` names outlive this object. Returns at once.
  void Stand(Deps deps);
  // Blocks until elected (returns true) or asked to end.
  [[nodiscard]] bool AwaitElection();
  // Looks again whether an end was requested.
  void Wake();
  // The active master's process is gone (MasterElection::ReplaceDead). Only after Stand.
  void ReplaceDead(const ServerName& dead) { election_->ReplaceDead(dead); }
  // Leaves the election, so that a standby is elected at once.
  void Stop();

  // The other masters, as they were when they were last read.
  [[nodiscard]] std::vector<ServerName> Backups() const;
  // On the session's thread.
  void ReadBackups();

 private:
  void ActiveChanged(const std::optional<ServerName>& who);
  // A standby of another --root must not wait here, because after its election it would find foreign region servers.
  void CompareClusters(const ServerName& other);

  ExitLatch& exit_;
  const End end_;
  std::unique_ptr<const Deps> deps_;  // from Stand on
  std::unique_ptr<zk::MasterElection> election_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool elected_ GUARDED_BY(mutex_) = false;
  std::vector<ServerName> backups_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
