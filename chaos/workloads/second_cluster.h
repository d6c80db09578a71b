// The second cluster of the load "replication", as that load needs it: the peer of the cluster that is broken, at the
// other end of a link that can be cut, with processes of its own that die.
//
// Owned by the driver, or by a test. One thread at a time; every call is bounded by what it says, or short.
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

  // What a peer is given ("host:port:/parent"): it leads over the link.
  [[nodiscard]] virtual std::string PeerKey() const = 0;
  // For clients, which do not use the link. Lives as long as this.
  [[nodiscard]] virtual client::Connection& connection() = 0;

  // Nothing of what the first cluster's servers send arrives, until JoinLink. `vanish`: it is lost, and the connections
  // end then; otherwise it arrives late.
  virtual void CutLink(bool vanish) = 0;
  virtual void JoinLink() = 0;
  // Bytes and connections that cuts have held back or lost so far: what shows that they had an effect.
  [[nodiscard]] virtual std::uint64_t Disturbed() const = 0;

  // Some of its processes die or stop; which, and how that is known. After an error nothing is broken.
  [[nodiscard]] virtual Result<std::string> Break(Prng& prng) = 0;
  // Starts what does not run, and waits until it serves: kTimeout when it does not yet. May be repeated.
  [[nodiscard]] virtual Status Recover(Millis timeout) = 0;
  // Processes of it that have ended by themselves as none may, since the last call.
  [[nodiscard]] virtual std::vector<std::string> TakeDefects() = 0;
  // Logs and stores, for a reader after a failure.
  [[nodiscard]] virtual Status Collect(const std::filesystem::path& folder) = 0;
};

}  // namespace ratchet::chaos
