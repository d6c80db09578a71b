// Configuration of a local cluster, and the state of each of its processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/cluster/child_process.h"
#include "common/base/clock.h"

namespace ratchet::chaos {

class CurrentAuthority;

struct ClusterSpec {
  std::filesystem::path dir;
  std::filesystem::path bin;  // directory of ratchet-master and ratchet-regionserver; empty: this program's directory
  int zookeepers = 1;         // 1, 3 or 5
  int masters = 2;
  int servers = 3;
  Millis session_timeout{2000};           // RATCHET_TEST_SESSION_MS overrides it (sanitizer runs)
  std::string storage = "local";          // or "ceph": a mini Ceph in <dir>/ceph, with a mount for each process
  std::filesystem::path ceph_scripts;     // for "ceph"; empty: searched
  bool detached = false;                  // processes outlive this one (ratchet-cluster up, ratchet-demo --keep)
  std::vector<std::string> master_flags;  // additional flags of every master; kOwnName is replaced by its name
  std::vector<std::string> server_flags;
  Environment environment;                        // environment of every process
  std::shared_ptr<CurrentAuthority> authority{};  // of a secured cluster (credentials.h); null otherwise
};

inline constexpr std::string_view kOwnName = "{process}";  // in flags of all processes of a role

enum class Role { kZooKeeper, kMaster, kRegionServer };

// Start of the line in a server's log with which a new incarnation starts in the same process.
inline constexpr std::string_view kComesAgain = "Start: this process restarted itself";

// Log position: the last start of the process.
inline constexpr std::uint64_t kThisRun = UINT64_MAX;

struct ProcessInfo {
  std::string name;  // "rs-2"
  Role role = Role::kRegionServer;
  ProcessId id;  // id.pid 0: not running
  std::uint16_t port = 0;
  std::int64_t started_wall_ms = 0;  // just before its last start
  std::uint64_t log_start = 0;       // size of its log at its last start
  std::filesystem::path log;
  std::optional<int> exit_code;  // exit code of the last run, 128+signal when killed
  bool paused = false;
  bool released = false;         // starts as the release's program
  std::string serving_as;        // the region server's name "host,port,startcode" in this run; empty: not serving yet
  std::uint32_t came_again = 0;  // automatic restarts in this run, with the same pid
  std::uint64_t log_read = 0;    // the log was read up to here for the two fields above
};

// One action of this program on a process. `at_ms` is the time just before it, and of a resume the time just after it.
struct ProcessChange {
  enum class What : std::uint8_t { kStart, kKill, kAskToStop, kPause, kResume };
  std::string name;
  What what = What::kStart;
  std::int64_t at_ms = 0;      // wall clock of this program
  std::uint64_t log_from = 0;  // size of the process's log then
};

}  // namespace ratchet::chaos
