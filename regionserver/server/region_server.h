// The process: brings the parts up in a safe order, keeps them running, and decides when to leave.
//
// Start, each step named in the log: root and cluster.id; ZooKeeper, and whether the two belong together (S72); start
// code (rule S5); listening; own log directory (S4); ephemeral node; registration with the active master;
// heartbeats. The directory comes before the registration, so that whatever knows this server can also fence it.
//
// Leaving: a found fence, an expired session or a master's "you are dead" end the process at once, without a word to
// any client (the successor owns everything). A requested stop has the server's regions opened elsewhere first (S73),
// then flushes; regions that are still assigned then are taken over by a crash procedure, which finds little to replay.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/start_again.h"
#include "common/base/version.h"
#include "regionserver/server/exit_latch.h"
#include "regionserver/server/options.h"

namespace ratchet::regionserver {

inline constexpr std::string_view kServerVersion = kVersionNumber;  // told to masters, shown to clients

struct ServerParts;

class RegionServer {
 public:
  // `exit` must outlive the server; it may be asked before and during the start.
  RegionServer(ServerOptions options, ExitLatch& exit, ProcessLife life = {});
  ~RegionServer();
  RegionServer(const RegionServer&) = delete;
  RegionServer& operator=(const RegionServer&) = delete;

  // Blocks until registered, or asks `exit` for the end and returns. A server whose name is refused before it has
  // served anything (a master that took over saw its new directory, but not yet its node) comes again under a higher
  // start code.
  void Start();
  // After a requested stop: hands the regions over, flushes, then takes everything down in order.
  void StopInOrder();
  // Before the process comes again: no part waits for the end of the old session. Bounded, whatever hangs.
  void LeaveZooKeeper();

 private:
  [[nodiscard]] Status StartParts();
  [[nodiscard]] Status OpenStorage();
  [[nodiscard]] Status ConnectZooKeeper();
  [[nodiscard]] Status ComparePlace();
  [[nodiscard]] Status TakeClusterKey();
  [[nodiscard]] Status BuildParts();
  [[nodiscard]] Status MakeLogDirectory();
  [[nodiscard]] Status Register();
  [[nodiscard]] Status RegisterWithMaster();
  // The master refused our name: come again under another one, with a start code above `refused_start_code`.
  [[nodiscard]] Status ComeAgain(std::uint64_t refused_start_code, Error refusal);
  void BeginHeartbeats();
  // Remembers the exit code that goes with a failed step.
  [[nodiscard]] Status Failed(int code, Error error);

  ServerOptions options_;
  const ProcessLife life_;
  ExitLatch& exit_;
  int failure_code_ = 1;
  bool root_has_history_ = false;
  bool come_again_ = false;             // the last start was refused because of the name only
  std::uint64_t least_start_code_ = 0;  // what a master has told us
  std::unique_ptr<ServerParts> parts_;
};

}  // namespace ratchet::regionserver
