// The connection of a source to a cluster: opened at first use and kept. Another thread may close it, which makes
// waiting calls fail. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/client/connection.h"
#include "common/model/replication_peer.h"

namespace ratchet::regionserver {

class KeptConnection {
 public:
  // `timeout` is that of one operation. `closed` is the error text after Close.
  KeptConnection(ClusterKey key, Millis timeout, std::string closed);

  // Valid until Drop, or until this object is destroyed. kAborted once it is closed.
  [[nodiscard]] Result<client::Connection*> Get();
  // Ends the connection; the next Get opens another one. No call may use the connection meanwhile.
  void Drop();
  void Close();
  [[nodiscard]] Millis timeout() const { return timeout_; }

 private:
  const ClusterKey key_;
  const Millis timeout_;
  const std::string closed_text_;
  Mutex mutex_;
  std::unique_ptr<client::Connection> connection_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::regionserver
