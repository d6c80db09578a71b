// Opens a process's first ZooKeeper session. It is retried for a limited time, and the log shows the progress. The
// thread of the process's start.
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/result.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

// Errors of both: kAborted: an end was requested meanwhile; kInvalidArgument: malformed servers; kFenced: the session
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

// The exit code of a process that has no session.
[[nodiscard]] int ExitCodeWithoutSession(const Error& error);

}  // namespace ratchet::zk
