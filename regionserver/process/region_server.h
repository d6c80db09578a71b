// The process: starts its parts in a safe order, keeps them running, and decides when to end.
//
// Start, each step named in the log: root and cluster.id; ZooKeeper, and whether the two belong together (S72: root and
// ZooKeeper node belong together); start code (rule S5: rising start code); listening; own log directory (S4: directory
// made once); ephemeral node; registration with the active master; heartbeats. The directory is made before the
// registration, so that every process that knows this server can fence it.
//
// End: a fence, an expired session or a master's "you are dead" end the process at once, without an answer to any
// client, because other servers own its regions. A requested stop first waits until the server's regions are open
// elsewhere (S73: orderly stop), then flushes. A crash procedure takes over regions that are still assigned, and has
// little to replay.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/result.h"
#include "common/base/self_restart.h"
#include "common/io/cluster_key.h"
#include "regionserver/process/options.h"

namespace ratchet::regionserver {

struct ServerParts;

class RegionServer {
 public:
  // `exit` must outlive the server; it may be triggered before and during the start.
  RegionServer(ServerOptions options, ExitLatch& exit, ProcessLife life = {});
  ~RegionServer();
  RegionServer(const RegionServer&) = delete;
  RegionServer& operator=(const RegionServer&) = delete;

  // Blocks until registered, or asks `exit` for the end and returns. If a master that is taking over saw the new
  // directory but not the node, it refuses the server's name; the server then retries under a higher start code.
  void Start();
  // For a requested stop: hands the regions over, flushes, then stops all parts in order.
  void StopInOrder();
  // Called before the process restarts, so that no part waits for the end of the old session. Bounded in time, even if
  // calls hang.
  void LeaveZooKeeper();

 private:
  [[nodiscard]] Status StartParts();
  [[nodiscard]] Status OpenStorage();
  [[nodiscard]] Status ConnectZooKeeper();
  [[nodiscard]] Status ComparePlace();
  [[nodiscard]] Status ReadClusterKeys();
  [[nodiscard]] Status PresentKeys(const io::ClusterKeys& keys);
  [[nodiscard]] Status BuildParts();
  [[nodiscard]] Status MakeLogDirectory();
  [[nodiscard]] Status Register();
  [[nodiscard]] Status RegisterWithMaster();
  // Handles a refusal of this server's name: the next attempt uses a start code above `refused_start_code`.
  [[nodiscard]] Status ComeAgain(std::uint64_t refused_start_code, Error refusal);
  void BeginHeartbeats();
  // Records the exit code of a failed step.
  [[nodiscard]] Status Failed(int code, Error error);

  ServerOptions options_;
  const ProcessLife life_;
  ExitLatch& exit_;
  int failure_code_ = 1;
  bool root_has_history_ = false;
  bool come_again_ = false;             // the last start failed only because its name was refused
  std::uint64_t least_start_code_ = 0;  // as a master requires
  std::unique_ptr<ServerParts> parts_;
};

}  // namespace ratchet::regionserver
