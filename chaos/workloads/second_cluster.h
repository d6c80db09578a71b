// The second cluster as the load "replication" needs it: the peer of the cluster that is broken, at the other end of a
// link that can be cut, with its own processes, which may die.
//
// Owned by the driver, or by a test. One thread at a time; every call is short, or bounded by its time limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/prng.h"
#include "common/base/result.h"

namespace ratchet::client {
class Connection;
}

namespace ratchet::chaos {

class SecondCluster {
 public:
  SecondCluster() = default;
  virtual ~SecondCluster() = default;
  SecondCluster(const SecondCluster&) = delete;
  SecondCluster& operator=(const SecondCluster&) = delete;

  // Returns the peer's key ("host:port:/parent"), which leads over the link.
  [[nodiscard]] virtual std::string PeerKey() const = 0;
  // For clients, which do not use the link. Lives as long as this object.
  [[nodiscard]] virtual client::Connection& connection() = 0;

  // Stops all data of the first cluster's servers until JoinLink. `vanish`: the data is lost, and the connections end;
  // otherwise it arrives late.
  virtual void CutLink(bool vanish) = 0;
  virtual void JoinLink() = 0;
  // Returns the bytes and connections that cuts have delayed or lost so far, as proof of their effect.
  [[nodiscard]] virtual std::uint64_t Disturbed() const = 0;

  // Breaks some of its processes; returns which, and the evidence. After an error no process is broken.
  [[nodiscard]] virtual Result<std::string> Break(Prng& prng) = 0;
  // Starts the stopped processes, and waits until the cluster serves; kTimeout when it does not serve yet. May be
  // repeated.
  [[nodiscard]] virtual Status Recover(Millis timeout) = 0;
  // Returns processes that ended unexpectedly since the last call.
  [[nodiscard]] virtual std::vector<std::string> CollectDefects() = 0;
  // Copies logs and stores, for a reader after a failure.
  [[nodiscard]] virtual Status Collect(const std::filesystem::path& folder) = 0;
};

}  // namespace ratchet::chaos
