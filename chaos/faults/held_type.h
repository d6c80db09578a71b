// The operator's pause of one type of procedure, so that a fault finds a procedure of this type before its first step:
// between two polls of the driver a procedure may begin and end. Runs on the driver's thread; calls block.
#pragma once

#include <string>

#include "chaos/faults/cluster_client.h"

namespace ratchet::chaos {

class HeldType {
 public:
  // After an error too, the type may be paused until Release.
  [[nodiscard]] Status Hold(ClusterClient& client, const std::string& type);
  // Retries while no master answers, because the next master honours the pause too. Idempotent.
  [[nodiscard]] Status Release(Target& target, ClusterClient& client);

 private:
  std::string type_;  // empty: none is held
};

}  // namespace ratchet::chaos
