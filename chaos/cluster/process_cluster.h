// A real cluster on this machine: ZooKeeper, masters and region servers as separate processes in one directory.
//
// Used by tests/cluster, ratchet-demo, ratchet-cluster and ratchet-chaos. Everything lives below `dir`:
//   cluster.state   what runs, with pid and start time of each process (so that nothing foreign is ever touched)
//   root/           the cluster's --root        zookeeper/   ZooKeeper's data       logs/<name>.log   one log a process
// A process is addressed by its role name: "zookeeper", "master-1", "rs-3". The members of an ensemble are
// "zookeeper-1" and so on, with a directory each.
//
// Not thread-safe except where said: one driver thread. The destructor kills what this object started (unless Detach
// was called) and the kernel kills it should this process die (PR_SET_PDEATHSIG, for clusters that are not detached).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "chaos/cluster/transition_watch.h"
#include "chaos/cluster/zookeeper_config.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::pb {
class GetStatusResponse;
}

namespace ratchet::chaos {

struct ClusterProcesses;
class CephStorage;
class ReleasedPrograms;

class ProcessCluster {
 public:
  // Makes `spec.dir` (which must not hold another cluster), starts all ZooKeeper members, and waits until ZooKeeper
  // serves; starts no server.
  [[nodiscard]] static Result<std::unique_ptr<ProcessCluster>> Create(ClusterSpec spec);
  // Attaches to the cluster of a state file. The destructor leaves its processes running.
  [[nodiscard]] static Result<std::unique_ptr<ProcessCluster>> Attach(const std::filesystem::path& dir);
  ~ProcessCluster();
  ProcessCluster(const ProcessCluster&) = delete;
  ProcessCluster& operator=(const ProcessCluster&) = delete;

  // Passes `settings` (kept_settings.h) to every process that is started from now on, also after a later Attach.
  [[nodiscard]] Status KeepSettings(const Environment& settings);
  // Starts all masters and region servers and waits until meta is online and all servers have reported.
  [[nodiscard]] Status StartAll(Millis timeout);
  // Starts one process that does not run. The `extra` environment and flags apply to this run only.
  [[nodiscard]] Status Start(const std::string& name, const Environment& extra = {},
                             const std::vector<std::string>& flags = {});
  // Makes the servers in `directory` available to UseReleased.
  [[nodiscard]] Status FindReleased(const std::filesystem::path& directory);
  [[nodiscard]] const ReleasedPrograms* released() const;  // null: none
  // Lets the master or region server `name` start as the release's program from now on, or as this tree's again.
  [[nodiscard]] Status UseReleased(const std::string& name, bool released);
  // Starts ZooKeeper members at the same time, because a JVM starts slowly.
  [[nodiscard]] Status StartZooKeepers(const std::vector<std::string>& names);
  [[nodiscard]] Status Kill9(const std::string& name);                 // waits until it is gone
  [[nodiscard]] Status Stop(const std::string& name, Millis timeout);  // SIGTERM; SIGKILL and kTimeout after `timeout`
  [[nodiscard]] Status Pause(const std::string& name);                 // SIGSTOP; verified in /proc
  [[nodiscard]] Status Resume(const std::string& name);
  // Kill9 if it runs, then Start on the same port.
  [[nodiscard]] Status Restart(const std::string& name, const Environment& extra = {});
  // Adds a region server or master to the cluster and starts it; returns its name.
  [[nodiscard]] Result<std::string> AddServer(const Environment& extra = {},
                                              const std::vector<std::string>& flags = {});
  // Stops everything: masters first, so that no master reassigns regions of region servers that stop; ZooKeeper last.
  [[nodiscard]] Status StopAll(Millis timeout);
  void KillAll();

  // Waits until `name` has exited by itself and returns its exit code; kTimeout otherwise.
  [[nodiscard]] Result<int> WaitExit(const std::string& name, Millis timeout);
  [[nodiscard]] bool Running(const std::string& name);
  [[nodiscard]] ProcessInfo Info(const std::string& name);
  [[nodiscard]] std::vector<ProcessInfo> Processes();
  [[nodiscard]] std::vector<std::string> Names(Role role);

  // Roles, according to ZooKeeper and the active master. A master that is registered but does not run (its session has
  // not ended yet) is not active.
  [[nodiscard]] Result<std::string> ActiveMaster();  // "master-2"; kNotFound when none is
  [[nodiscard]] Result<std::string> MetaHolder();    // "rs-1"
  [[nodiscard]] Result<std::string> WaitActiveMaster(Millis timeout, const std::string& not_this = "");
  // Waits until meta is online, nothing is in transition, no crash is being handled, the master counts exactly the
  // region servers that run now as alive, and every ZooKeeper member that runs belongs to the ensemble. The error names
  // the last missing condition.
  [[nodiscard]] Status WaitServing(Millis timeout);
  // Checks this once, for a cluster in which loads begin transitions all the time: each transition that the first check
  // of `watch` must have ended. Resets `watch` when another condition does not hold.
  [[nodiscard]] Status CheckRecovered(TransitionWatch& watch);
  // Returns the state of a ZooKeeper member; without a mode when it does not serve, or is not a member.
  [[nodiscard]] ZooKeeperState ZooKeeperStateOf(const std::string& name);
  // Returns the status according to this master; short timeout, no retries.
  [[nodiscard]] Result<pb::GetStatusResponse> StatusOf(const std::string& name);

  // Waits until a line of the process's log contains `text`, from `from_byte` on; returns that line.
  [[nodiscard]] Result<std::string> WaitLog(const std::string& name, const std::string& text, Millis timeout,
                                            std::uint64_t from_byte = kThisRun);
  [[nodiscard]] std::uint64_t LogSize(const std::string& name);
  [[nodiscard]] std::vector<std::string> LogLines(const std::string& name, const std::string& containing,
                                                  std::uint64_t from_byte = kThisRun);
  // Calls `line` with each whole line of the process's log, from all runs, in order.
  void ReadLog(const std::string& name, const std::function<void(const std::string& line)>& line);

  // Polls `condition` until it is true: the only way in which tests wait. The error names `what`.
  [[nodiscard]] static Status WaitUntil(const std::string& what, Millis timeout,
                                        const std::function<bool()>& condition);

  // The actions of this object on masters and region servers, in order.
  [[nodiscard]] const std::vector<ProcessChange>& changes() const;
  [[nodiscard]] std::string zookeeper() const;  // "127.0.0.1:40001"; of an ensemble all, with commas
  [[nodiscard]] const ClusterSpec& spec() const;
  [[nodiscard]] std::filesystem::path root() const;  // as this program sees it
  [[nodiscard]] const CephStorage* ceph() const;     // null: the storage is local
  // Ends the mini Ceph and deletes its data; call when no process runs. No effect on local storage.
  [[nodiscard]] Status RemoveStorage();
  void Detach();  // the destructor leaves everything running

 private:
  explicit ProcessCluster(std::unique_ptr<ClusterProcesses> processes);
  // Checks the conditions of WaitServing once, and returns the active master.
  [[nodiscard]] Result<std::string> ServingMaster(bool none_in_transition);
  std::unique_ptr<ClusterProcesses> impl_;
};

}  // namespace ratchet::chaos
