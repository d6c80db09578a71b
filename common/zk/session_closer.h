// Closes a ZooKeeper session for a process that is about to end and must not wait for the session's callbacks, which
// may hang.
//
// Owner: the session's owner; goes before the session. Thread-safe. The session is closed by this object alone, or by
// its own destructor.
#pragma once

#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

class SessionCloser {
 public:
  explicit SessionCloser(ZkSession& session) : session_(session) {}
  // Waits for a Close that has begun.
  ~SessionCloser();
  SessionCloser(const SessionCloser&) = delete;
  SessionCloser& operator=(const SessionCloser&) = delete;

  // ZkSession::Close on a thread of its own, which is waited for no longer than `bound`. True: the session is over.
  [[nodiscard]] bool Close(Millis bound);

 private:
  ZkSession& session_;
  Mutex mutex_;
  CondVar changed_;
  bool closed_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::zk
