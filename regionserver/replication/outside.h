// What a source needs from outside, as interfaces: the peer cluster, and where positions are kept.
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
  // Its cluster id.
  [[nodiscard]] virtual Result<std::string> ClusterId() = 0;
  // Ok: everything is durable there. After an error any part may be.
  [[nodiscard]] virtual Status Ship(const Shipment& shipment) = 0;
  // Calls under way fail, and so does every later one.
  virtual void Close() = 0;
};

// Positions by peer and by the server whose logs they are in. Thread-safe; calls block for a bounded time.
class Positions {
 public:
  virtual ~Positions() = default;
  // Nothing: none is kept.
  [[nodiscard]] virtual Result<std::optional<LogPosition>> Read(const std::string& peer, const std::string& server) = 0;
  // The same, of a dead server's logs, which this server ships from now on: no other one's Write has an effect any more
  // (kept_position.h).
  [[nodiscard]] virtual Result<std::optional<LogPosition>> Claim(const std::string& peer,
                                                                 const std::string& server) = 0;
  // One that is behind what is kept changes nothing. kStale: another server has claimed the logs meanwhile.
  [[nodiscard]] virtual Status Write(const std::string& peer, const std::string& server,
                                     const LogPosition& position) = 0;
  [[nodiscard]] virtual Status Forget(const std::string& peer, const std::string& server) = 0;
  // Whether this cluster still has the table, with all of these families. What it has dropped need not be shipped.
  [[nodiscard]] virtual Result<bool> HasFamilies(const Shipment& shipment) = 0;
  virtual void Close() = 0;
};

}  // namespace ratchet::regionserver
