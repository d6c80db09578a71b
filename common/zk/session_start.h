// The first thing that a process wants of ZooKeeper: a session. It is tried until a time has passed, and the log says
// so meanwhile. The thread of the process's start.
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/result.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

// Errors of both: kAborted: an end was asked for meanwhile; kInvalidArgument: malformed servers; kFenced: the session
// expired; any other: there is no session in time.
class SessionStart {
 public:
  // The time begins. `clock` and `exit` outlive this object. `within`: --zk-connect-timeout-ms.
  SessionStart(SessionOptions options, Millis within, const Clock& clock, ExitLatch& exit);

  // The names of the servers may have no address yet.
  [[nodiscard]] Result<std::unique_ptr<ZkSession>> Open();
  [[nodiscard]] Status AwaitConnected(ZkSession& session);

 private:
  [[nodiscard]] Millis Left() const;

  const SessionOptions options_;
  const Millis within_;
  const Clock& clock_;
  ExitLatch& exit_;
  const TimePoint deadline_;
};

// With which exit code a process ends that has no session.
[[nodiscard]] int ExitCodeWithoutSession(const Error& error);

}  // namespace ratchet::zk
