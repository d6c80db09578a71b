// The connection of a source to a cluster: opened when it is first needed, kept, and closed from another thread so that
// what waits on it fails. Thread-safe.
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
  // `timeout`: of an operation. `closed`: why there is none any more, for the error.
  KeptConnection(ClusterKey key, Millis timeout, std::string closed);

  // Valid until this object goes. kAborted once it is closed.
  [[nodiscard]] Result<client::Connection*> Get();
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
