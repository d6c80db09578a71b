// What a local cluster consists of, and what is known of each of its processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/cluster/child_process.h"
#include "common/base/clock.h"

namespace ratchet::chaos {

struct ClusterSpec {
  std::filesystem::path dir;
  std::filesystem::path bin;  // where ratchet-master and ratchet-regionserver are; empty: beside this program
  int zookeepers = 1;         // 1, 3 or 5
  int masters = 2;
  int servers = 3;
  Millis session_timeout{2000};           // RATCHET_TEST_SESSION_MS overrides it (sanitizer runs)
  std::string storage = "local";          // or "ceph": a mini Ceph in <dir>/ceph, and a mount for each process
  std::filesystem::path ceph_scripts;     // with "ceph"; empty: they are looked for
  bool detached = false;                  // processes outlive this one (ratchet-cluster up, ratchet-demo --keep)
  std::vector<std::string> master_flags;  // further flags of every master
  std::vector<std::string> server_flags;
  Environment environment;  // of every process
};

enum class Role { kZooKeeper, kMaster, kRegionServer };

// Of a server's log: a new incarnation begins, in the same process.
inline constexpr std::string_view kComesAgain = "Start: this process comes again by itself";

// Log positions: from the last start of the process on.
inline constexpr std::uint64_t kThisRun = UINT64_MAX;

struct ProcessInfo {
  std::string name;  // "rs-2"
  Role role = Role::kRegionServer;
  ProcessId id;  // id.pid 0: not running
  std::uint16_t port = 0;
  std::int64_t started_wall_ms = 0;  // just before its last start
  std::uint64_t log_start = 0;       // size of its log then
  std::filesystem::path log;
  std::optional<int> exit_code;  // of the last run: what wait() said, 128+signal when killed
  bool paused = false;
  std::string serving_as;  // a region server's name "host,port,startcode" of this run; empty: it does not serve yet
  std::uint32_t came_again = 0;  // how often it has come again by itself in this run, with the same pid
  std::uint64_t log_read = 0;    // up to where its log has been read for these two
};

}  // namespace ratchet::chaos
