// Closes a ZooKeeper session for a process that is about to end and must not wait for the session's callbacks, which
// may hang.
//
// Owner: the session's owner; destroyed before the session. Thread-safe. Only this object, or the session's destructor,
// closes the session.
#pragma once

#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

class SessionCloser {
 public:
  explicit SessionCloser(ZkSession& session) : session_(session) {}
  // Waits for a running Close.
  ~SessionCloser();
  SessionCloser(const SessionCloser&) = delete;
  SessionCloser& operator=(const SessionCloser&) = delete;

  // Runs ZkSession::Close on a thread of its own, and waits at most `bound` for it. Returns true if the session is
  // over.
  [[nodiscard]] bool Close(Millis bound);

 private:
  ZkSession& session_;
  Mutex mutex_;
  CondVar changed_;
  bool closed_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::zk
