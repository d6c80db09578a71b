// The cluster that is broken: a cluster of processes that this program started, one that runs already, or the Compose
// cluster.
//
// Names are the same everywhere: "zookeeper" ("zookeeper-1" and so on for an ensemble), "master-1", "rs-2". Not
// thread-safe: the driver's one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/cluster/process_cluster.h"
#include "chaos/cluster/transition_watch.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::chaos {

// A cluster that was stopped, or parts of it, serves again within this time.
inline constexpr Millis kServesWithin{60'000};
// The roles of the processes of Ratchet.
inline constexpr Role kMembers[] = {Role::kMaster, Role::kRegionServer};

class Links;
class LoopDisk;
class ProcessShims;

// A process that ended without being killed through the target. `expected`: its exit code is that of an intentional end
// (session expired, fenced, refused, a failed sync, a fault point); any other code is a defect.
struct Death {
  std::string name;
  int exit_code = 0;  // -1: unknown, because it was not our child
  bool expected = false;
};

class Target {
 public:
  Target() = default;
  virtual ~Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  [[nodiscard]] virtual std::string_view kind() const = 0;  // "local", "running", "compose"
  [[nodiscard]] virtual std::string zookeeper() const = 0;  // for clients
  [[nodiscard]] virtual std::vector<std::string> Names(Role role) = 0;
  [[nodiscard]] virtual bool Running(const std::string& name) = 0;

  // Each waits until the process's state shows the change.
  [[nodiscard]] virtual Status Kill(const std::string& name) = 0;
  [[nodiscard]] virtual Status Start(const std::string& name, const Environment& extra = {}) = 0;
  // Starts ZooKeeper members, at the same time if possible, because they serve only once a majority runs.
  [[nodiscard]] virtual Status StartZooKeepers(const std::vector<std::string>& names) {
    for (const auto& name : names) RATCHET_TRY(Start(name));
    return Ok();
  }
  [[nodiscard]] virtual Status Pause(const std::string& name) = 0;
  [[nodiscard]] virtual Status Resume(const std::string& name) = 0;

  // Disconnects a container from its network, and reconnects it.
  [[nodiscard]] virtual Status Disconnect(const std::string& /*name*/) {
    return Error(Code::kUnsupported, "only containers can be disconnected from their network");
  }
  [[nodiscard]] virtual Status Reconnect(const std::string& /*name*/) { return Ok(); }

  [[nodiscard]] virtual Result<std::string> ActiveMaster() = 0;
  [[nodiscard]] virtual Result<std::string> MetaHolder() = 0;
  // Returns the state of this ZooKeeper member; without a mode when it does not serve or cannot be asked.
  [[nodiscard]] virtual ZooKeeperState ZooKeeperStateOf(const std::string& /*name*/) { return {}; }
  // Returns the port on which this process itself listens, behind any proxy; 0 if unknown.
  [[nodiscard]] virtual std::uint16_t OwnPort(const std::string& /*name*/) { return 0; }
  // Returns the name of a region server of this target, "rs-2"; an empty string for other servers.
  [[nodiscard]] virtual std::string NameOf(const ServerName& /*server*/) { return ""; }
  // Waits until everything runs, meta is online, no region is in transition and no crash is being handled.
  [[nodiscard]] virtual Status WaitServing(Millis timeout) = 0;
  // WaitServing for a cluster in which loads begin transitions all the time: only the transitions that the first check
  // found must have ended.
  [[nodiscard]] virtual Status AwaitRecovered(Millis timeout) { return WaitServing(timeout); }
  // Checks the conditions of WaitServing once, for the processes that run now: a stopped process is ignored as long as
  // no master counts it as alive.
  [[nodiscard]] virtual Status CheckRecovered() {
    return Error(Code::kUnsupported, "this target can only wait for all processes together");
  }
  // AwaitRecovered's condition, checked once, while loads are running. `watch` remembers the first check.
  [[nodiscard]] virtual Status CheckRecoveredUnderLoad(TransitionWatch& /*watch*/) { return CheckRecovered(); }
  [[nodiscard]] virtual Millis session_timeout() const = 0;

  // Faults with long waits call this meanwhile, so that other faults are healed in time, even while this fault waits
  // for something that only a healed cluster does.
  void Meanwhile() {
    if (meanwhile_) meanwhile_();
  }
  void SetMeanwhile(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }

  // Returns the cluster of processes, for faults that need more than the verbs above; null for Compose.
  [[nodiscard]] virtual ProcessCluster* processes() = 0;
  // Returns the links between processes when the target was started with proxies; null otherwise.
  [[nodiscard]] virtual Links* links() = 0;
  // Returns the controls of disks, syncs and clocks of single processes; null when the target has none.
  [[nodiscard]] virtual ProcessShims* shims() { return nullptr; }
  [[nodiscard]] virtual LoopDisk* disk() { return nullptr; }
  [[nodiscard]] virtual std::string WhyNoShims() const {
    return "this target's processes run without the preloaded library";
  }
  [[nodiscard]] virtual std::string WhyNoDisk() const {
    return "this target's root is not on a separate disk (needs root: --disk-bytes)";
  }

  // Calls `line` with each line of its log, from all runs, in order.
  virtual void ReadLog(const std::string& /*name*/, const std::function<void(const std::string& line)>& /*line*/) {}
  // Returns the running processes with the pids of this machine's kernel; empty when they run elsewhere.
  [[nodiscard]] virtual std::map<std::string, int> Pids() { return {}; }
  // Returns the cluster's shared directory, if this process can read it.
  [[nodiscard]] virtual std::optional<std::filesystem::path> Root() { return std::nullopt; }

  // Returns the directory, on this machine, to which masters may export snapshots; nullopt if exports are not allowed.
  [[nodiscard]] virtual std::optional<std::filesystem::path> Exports() { return std::nullopt; }

  // Returns the automatic restarts of this process since it was started; 0 if unknown.
  [[nodiscard]] virtual std::uint32_t CameAgain(const std::string& /*name*/) { return 0; }
  // Until the process is restarted, its end with this exit code is expected, and not a defect.
  virtual void Expect(const std::string& /*name*/, int /*exit_code*/) {}
  // The processes that ended by themselves since the last call. WaitServing starts such processes again.
  [[nodiscard]] virtual std::vector<Death> CollectDeaths() { return {}; }
  // Copies the files that a reader needs after a failure (logs, stores) below `folder`.
  [[nodiscard]] virtual Status Collect(const std::filesystem::path& folder) = 0;

 private:
  std::function<void()> meanwhile_;
};

// Optional parts; faults that need a missing part are unavailable, and report it.
struct LocalTargetOptions {
  Millis boot_timeout{120'000};
  bool links = true;             // proxies between the processes
  bool shims = true;             // a preloaded library for syncs and clocks; never with a sanitizer
  std::uint64_t disk_bytes = 0;  // size of a separate file system for root/; 0: none. Needs root
  std::uint64_t seed = 1;        // seed of the links' jitter
  // Ports of other children of this program, with the names that the links use instead of "client".
  std::map<std::uint16_t, std::string> strangers{};
};

// Boots a new cluster; everything runs and serves when this returns.
[[nodiscard]] Result<std::unique_ptr<Target>> MakeLocalTarget(ClusterSpec spec, const LocalTargetOptions& options = {});
// Attaches to the cluster of processes in this directory (ratchet-cluster up), and leaves it running.
[[nodiscard]] Result<std::unique_ptr<Target>> AttachTarget(const std::filesystem::path& dir);

struct ComposeOptions {
  std::filesystem::path directory = ".";  // directory of docker-compose.yml
  std::string project;                    // Compose's project name; empty: its default
  Millis session_timeout{2000};
  std::string zookeeper;  // for clients; empty: the address of ZooKeeper's container
};
// Attaches to the Compose cluster, which must be up. "rs-2" is the second container of the service.
[[nodiscard]] Result<std::unique_ptr<Target>> MakeComposeTarget(ComposeOptions options);

}  // namespace ratchet::chaos
