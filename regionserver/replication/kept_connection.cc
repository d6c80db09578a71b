#include "regionserver/replication/kept_connection.h"

#include <utility>

namespace ratchet::regionserver {

KeptConnection::KeptConnection(ClusterKey key, Millis timeout, std::string closed)
    : key_(std::move(key)), timeout_(timeout), closed_text_(std::move(closed)) {}

Result<client::Connection*> KeptConnection::Get() {
  const MutexLock lock(mutex_);
  if (closed_) return Error(Code::kAborted, closed_text_);
  if (connection_ == nullptr) {
    client::ConnectionOptions options;
    options.zookeeper = key_.zookeeper;
    options.znode_parent = key_.parent;
    options.user = "replication";
    options.operation_timeout = timeout_;
    RATCHET_ASSIGN(connection_, client::Connection::Open(std::move(options)));
  }
  return connection_.get();
}

void KeptConnection::Drop() {
  std::unique_ptr<client::Connection> dropped;
  const MutexLock lock(mutex_);
  if (!closed_) dropped = std::move(connection_);
}

void KeptConnection::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  if (connection_ != nullptr) connection_->Close();
}

}  // namespace ratchet::regionserver
