// What chaos is done to: a cluster of processes that this program started, one that runs already, or the Compose
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
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::chaos {

class Links;
class LoopDisk;
class ProcessShims;

// A process that ended without having been killed through the target. `expected`: its exit code is one with which a
// server leaves on purpose (session expired, fenced, refused, a failed sync, a fault point); anything else is a defect.
struct Death {
  std::string name;
  int exit_code = 0;  // -1: unknown, it was not our child
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

  // Each waits until the process's state shows it.
  [[nodiscard]] virtual Status Kill(const std::string& name) = 0;
  [[nodiscard]] virtual Status Start(const std::string& name, const Environment& extra = {}) = 0;
  // ZooKeeper members, side by side where it can be had: they serve only once more than half of them run.
  [[nodiscard]] virtual Status StartZooKeepers(const std::vector<std::string>& names) {
    for (const auto& name : names) RATCHET_TRY(Start(name));
    return Ok();
  }
  [[nodiscard]] virtual Status Pause(const std::string& name) = 0;
  [[nodiscard]] virtual Status Resume(const std::string& name) = 0;

  // Takes a container out of its network, and puts it back.
  [[nodiscard]] virtual Status Disconnect(const std::string& /*name*/) {
    return Error(Code::kUnsupported, "only containers can be taken out of their network");
  }
  [[nodiscard]] virtual Status Reconnect(const std::string& /*name*/) { return Ok(); }

  [[nodiscard]] virtual Result<std::string> ActiveMaster() = 0;
  [[nodiscard]] virtual Result<std::string> MetaHolder() = 0;
  // What this ZooKeeper member is now; without a mode when it does not serve or cannot be asked.
  [[nodiscard]] virtual ZooKeeperState ZooKeeperStateOf(const std::string& /*name*/) { return {}; }
  // Where this process itself listens on this machine, behind any proxy; 0 where that cannot be told.
  [[nodiscard]] virtual std::uint16_t OwnPort(const std::string& /*name*/) { return 0; }
  // The region server that is known to the cluster by this name, "rs-2"; empty when it is none of this target's.
  [[nodiscard]] virtual std::string NameOf(const ServerName& /*server*/) { return ""; }
  // Everything runs, meta is online, nothing is in transition, no crash is being handled.
  [[nodiscard]] virtual Status WaitServing(Millis timeout) = 0;
  // The same of those that run now, looked at once: a process that is down is not missed as long as no master takes it
  // for alive.
  [[nodiscard]] virtual Status CheckRecovered() {
    return Error(Code::kUnsupported, "this target can only be waited for as a whole");
  }
  [[nodiscard]] virtual Millis session_timeout() const = 0;

  // Faults that wait for long call this meanwhile: what others have broken is healed in time, also while this one waits
  // for what only a healed cluster does.
  void Meanwhile() {
    if (meanwhile_) meanwhile_();
  }
  void SetMeanwhile(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }

  // The cluster of processes behind it, for faults that need more than the verbs above; null for Compose.
  [[nodiscard]] virtual ProcessCluster* processes() = 0;
  // The links between processes, when the target was started with proxies between them; null otherwise.
  [[nodiscard]] virtual Links* links() = 0;
  // What makes disks, syncs and clocks of single processes misbehave; null when the target has none.
  [[nodiscard]] virtual ProcessShims* shims() { return nullptr; }
  [[nodiscard]] virtual LoopDisk* disk() { return nullptr; }
  [[nodiscard]] virtual std::string WhyNoShims() const {
    return "this target's processes run without the preloaded library";
  }
  [[nodiscard]] virtual std::string WhyNoDisk() const {
    return "this target's root is on no disk of its own (that needs root: --disk-bytes)";
  }

  // Lines of its logs, of all its runs.
  [[nodiscard]] virtual std::vector<std::string> LogLines(const std::string& /*name*/,
                                                          const std::string& /*containing*/) {
    return {};
  }
  // The processes that run, as this machine's kernel knows them; empty when they are elsewhere.
  [[nodiscard]] virtual std::map<std::string, int> Pids() { return {}; }
  // The cluster's shared directory, where this process can read it.
  [[nodiscard]] virtual std::optional<std::filesystem::path> Root() { return std::nullopt; }

  // Where its masters may export snapshots to, on this machine; nullopt where they may not.
  [[nodiscard]] virtual std::optional<std::filesystem::path> Exports() { return std::nullopt; }

  // How often this process has come again by itself since it was started; 0 where that cannot be seen.
  [[nodiscard]] virtual std::uint32_t CameAgain(const std::string& /*name*/) { return 0; }
  // The processes that ended by themselves since the last call. WaitServing starts such processes again.
  [[nodiscard]] virtual std::vector<Death> TakeDeaths() { return {}; }
  // Copies what a reader needs after a failure (logs, stores) below `folder`.
  [[nodiscard]] virtual Status Collect(const std::filesystem::path& folder) = 0;

 private:
  std::function<void()> meanwhile_;
};

// What is not there makes some faults unavailable, which say so; it costs nothing otherwise.
struct LocalTargetOptions {
  Millis boot_timeout{120'000};
  bool links = true;             // proxies between the processes
  bool shims = true;             // a preloaded library for syncs and clocks; never with a sanitizer
  std::uint64_t disk_bytes = 0;  // root/ on a file system of its own of this size; 0: none. Needs root
  std::uint64_t seed = 1;        // of the links' jitter
  // Ports of further children of this program, with the names that the links give them instead of "client".
  std::map<std::uint16_t, std::string> strangers{};
};

// Boots a cluster of its own: everything runs and serves when it returns.
[[nodiscard]] Result<std::unique_ptr<Target>> MakeLocalTarget(ClusterSpec spec, const LocalTargetOptions& options = {});
// The cluster of processes that runs in this directory (ratchet-cluster up); it is left running.
[[nodiscard]] Result<std::unique_ptr<Target>> AttachTarget(const std::filesystem::path& dir);

struct ComposeOptions {
  std::filesystem::path directory = ".";  // where docker-compose.yml is
  std::string project;                    // Compose's project name; empty: its default
  Millis session_timeout{2000};
  std::string zookeeper;  // for clients; empty: the address of ZooKeeper's container
};
// The Compose cluster, which must be up. Names: as everywhere; "rs-2" is the second container of the service.
[[nodiscard]] Result<std::unique_ptr<Target>> MakeComposeTarget(ComposeOptions options);

}  // namespace ratchet::chaos
