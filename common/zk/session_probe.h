// A second, new session with ZooKeeper, which finds out whether ZooKeeper grants sessions while it refuses an old one.
//
// ZooKeeper closes the connection of a client that has seen a later transaction than its own last one, without an
// answer. That happens after its data was set back to an older copy or lost, and looks like an outage to the client.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include <zookeeper/zookeeper.h>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::zk {

// Thread-safe. The destructor closes the session and waits for its callbacks.
class SessionProbe {
 public:
  // `servers`: numeric, for libzookeeper.
  SessionProbe(const std::string& servers, Millis session_timeout);
  ~SessionProbe();
  SessionProbe(const SessionProbe&) = delete;
  SessionProbe& operator=(const SessionProbe&) = delete;

  // Returns how long the session has been connected without a break; nullopt if it is not connected.
  [[nodiscard]] std::optional<Millis> ConnectedFor() const;

 private:
  static void OnSessionEvent(zhandle_t* zh, int type, int state, const char* path, void* context);

  const SystemClock clock_;
  mutable Mutex mutex_;
  std::optional<TimePoint> connected_ GUARDED_BY(mutex_);
  zhandle_t* handle_ = nullptr;
};

}  // namespace ratchet::zk
