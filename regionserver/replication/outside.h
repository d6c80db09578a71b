// Interfaces of a source to the outside: the peer cluster, and the store of positions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "regionserver/replication/batch_builder.h"
#include "regionserver/replication/log_queue.h"

namespace ratchet::regionserver {

// One peer cluster. Thread-safe; calls block for a bounded time.
class PeerSink {
 public:
  virtual ~PeerSink() = default;
  // Returns the peer's current cluster id. The address may lead to another cluster than before.
  [[nodiscard]] virtual Result<std::string> ClusterId() = 0;
  // OK: everything is durable at the peer. After an error any part may be.
  [[nodiscard]] virtual Status Ship(const Shipment& shipment) = 0;
  // Makes the next call open a new connection to the peer's address. Only the thread that ships calls this.
  virtual void Reconnect() {}
  // Makes pending and later calls fail.
  virtual void Close() = 0;
};

// Stores positions by peer and owner of the logs. Thread-safe; calls block for a bounded time.
class Positions {
 public:
  virtual ~Positions() = default;
  // Returns nullopt when no position is stored.
  [[nodiscard]] virtual Result<std::optional<LogPosition>> Read(const std::string& peer, const std::string& server) = 0;
  // Reads the position of a dead server's logs, and claims them: this server ships them from now on, and Write of any
  // other server is refused (KeptPosition).
  [[nodiscard]] virtual Result<std::optional<LogPosition>> Claim(const std::string& peer,
                                                                 const std::string& server) = 0;
  // A position behind the stored one changes nothing. kStale: another server has claimed the logs meanwhile.
  [[nodiscard]] virtual Status Write(const std::string& peer, const std::string& server,
                                     const LogPosition& position) = 0;
  [[nodiscard]] virtual Status Forget(const std::string& peer, const std::string& server) = 0;
  // Returns the servers for whose logs a position of the peer is stored.
  [[nodiscard]] virtual Result<std::vector<std::string>> Servers(const std::string& peer) = 0;
  // Returns whether this cluster still has the table with all of these families. Data of dropped families need not be
  // shipped.
  [[nodiscard]] virtual Result<bool> HasFamilies(const Shipment& shipment) = 0;
  virtual void Close() = 0;
};

}  // namespace ratchet::regionserver
